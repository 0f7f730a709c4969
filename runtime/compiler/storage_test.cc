#include "runtime/compiler/storage.h"

#include <vector>

#include "gtest/gtest.h"
#include "runtime/compiler/testing.h"

namespace trencadis::compiler {
namespace {

// Storage of a graph whose nodes `steps` are its steps; elementwise ops may work in place.
Storage Assign(const ir::Graph& graph, const std::vector<int32_t>& steps, std::vector<bool> donated,
               bool reuse = true) {
  const StorageRequest request{.graph = &graph, .steps = steps, .donated = donated, .reuse = reuse};
  return AssignStorage(request, [&](int32_t node, int, int) {
    return graph.node(node).op->traits.op_class == ir::OpClass::kElementwise;
  });
}

constexpr absl::string_view kChain = R"(graph {
  %x = input() : f32[64]
  %a = exp(%x)
  %r = reshape(%a){shape=[8,8]}
  %b = neg(%r)
  return %b
})";

TEST(Storage, AChainOfValuesIsMadeInTheOutput) {
  const ir::Graph graph = GraphFrom(kChain);
  const Storage storage = Assign(graph, {1, 3}, {false});
  EXPECT_TRUE(storage.buffers.empty());
  EXPECT_TRUE(storage.donations.empty());
  // The reshape lives where its operand does.
  EXPECT_EQ(storage.PlaceOf(graph, {2, 0}).kind, PlaceKind::kOutput);
}

TEST(Storage, TheChainMayBeginAtADonatedArgument) {
  const ir::Graph graph = GraphFrom(kChain);
  const Storage storage = Assign(graph, {1, 3}, {true});
  ASSERT_EQ(storage.donations.size(), 1u);
  EXPECT_EQ(storage.donations[0].input, 0);
  EXPECT_EQ(storage.donations[0].output, 0);
}

TEST(Storage, WithoutReuseEveryValueHasItsOwnPlace) {
  const ir::Graph graph = GraphFrom(kChain);
  const Storage storage = Assign(graph, {1, 3}, {true}, /*reuse=*/false);
  EXPECT_EQ(storage.buffers.size(), 1u);
  EXPECT_TRUE(storage.donations.empty());
}

TEST(Storage, ADonatedArgumentThatIsDeadLendsItsMemory) {
  const ir::Graph graph = GraphFrom(R"(graph {
    %x = input() : f32[64]
    %s = reduce_sum(%x){axes=[0]}
    %y = broadcast(%s){shape=[64], axes=[]}
    return %y
  })");
  EXPECT_EQ(Assign(graph, {1, 2}, {true}).donations.size(), 1u);
  // One step both reads it and writes the output, not in place: too late.
  const ir::Graph reversed = GraphFrom(R"(graph {
    %x = input() : f32[64]
    %y = reverse(%x){axes=[0]}
    return %y
  })");
  EXPECT_TRUE(Assign(reversed, {1}, {true}).donations.empty());
}

TEST(Storage, AValueThatIsReadLaterKeepsItsPlace) {
  const ir::Graph graph = GraphFrom(R"(graph {
    %x = input() : f32[64]
    %a = exp(%x)
    %b = neg(%a)
    %c = add(%a, %b)
    %s = reduce_sum(%c){axes=[0]}
    return %s
  })");
  const Storage storage = Assign(graph, {1, 2, 3, 4}, {false});
  // a and b live together; c takes a's place.
  ASSERT_EQ(storage.buffers.size(), 2u);
  EXPECT_EQ(storage.PlaceOf(graph, {3, 0}).index, storage.PlaceOf(graph, {1, 0}).index);
  EXPECT_NE(storage.PlaceOf(graph, {2, 0}).index, storage.PlaceOf(graph, {1, 0}).index);
  EXPECT_EQ(storage.buffers[0].last, 3);
}

TEST(Storage, AnOperandThatIsReadTwiceIsNotOverwritten) {
  const ir::Graph graph = GraphFrom(R"(graph {
    %x = input() : f32[64]
    %a = exp(%x)
    %b = mul(%a, %a)
    %s = reduce_sum(%b){axes=[0]}
    return %s
  })");
  EXPECT_EQ(Assign(graph, {1, 2, 3}, {false}).buffers.size(), 2u);
}

}  // namespace
}  // namespace trencadis::compiler
