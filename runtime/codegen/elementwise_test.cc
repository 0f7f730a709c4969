// Every elementwise op and generator.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/codegen/fusion_testing.h"
#include "runtime/ops/registry.h"

namespace trencadis::codegen {
namespace {

using testing::CheckBody;
using testing::ExpectNear;
using testing::ParseBody;
using testing::RandomInputs;
using testing::Reference;
using testing::RunBody;
using testing::RunKernel;

constexpr DType kAllTypes[] = {DType::kF32, DType::kBF16, DType::kI32,
                               DType::kI64, DType::kBool, DType::kU8};
constexpr double kTolerance = 1e-5;

// `op` on inputs of `types` in its last operands, the first being bool where that is what it wants;
// nothing when it takes no such types.
std::vector<ir::Graph> BodiesOf(const ir::OpDef& op, DType dtype, const Shape& shape) {
  std::vector<ir::Attributes> attributes(1);
  if (!op.attributes.empty()) {
    attributes.clear();
    for (DType to : kAllTypes) attributes.push_back({{"dtype", to}});
  }
  std::vector<ir::Graph> bodies;
  for (const ir::Attributes& chosen : attributes) {
    for (bool first_is_bool : {false, true}) {
      ir::Graph body;
      std::vector<ir::Value> operands;
      for (int i = 0; i < op.num_operands; ++i) {
        const bool is_condition = i == 0 && first_is_bool;
        operands.push_back(body.AddInput({is_condition ? DType::kBool : dtype, shape}));
      }
      const auto node = body.AddNode(&op, operands, chosen);
      if (!node.ok()) continue;
      body.SetOutputs({{*node, 0}});
      bodies.push_back(std::move(body));
      break;
    }
  }
  return bodies;
}

// Numbers that functions treat apart, spread among ordinary ones. Integers keep to what the
// reference's double holds.
void AddSpecialValues(Literal& literal) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double floats[] = {0.0,    -0.0, 1.0,    -1.0, kInfinity, -kInfinity, NAN,   1e-40,
                           -1e-40, 88.5, -104.0, 1e18, 1e-30,     0.5,        100.25};
  const double integers[] = {0, 1, 2, 127, 255, 64, 100};
  const bool is_float = IsFloat(literal.dtype());
  const int64_t count = is_float ? std::size(floats) : std::size(integers);
  for (int64_t i = 0; i < literal.num_elements(); i += 3) {
    literal.SetDouble(i, is_float ? floats[i / 3 % count] : integers[i / 3 % count]);
  }
}

class ElementwiseOpTest : public ::testing::TestWithParam<const ir::OpDef*> {};

TEST_P(ElementwiseOpTest, MatchesTheReferenceForEveryTypeAndSize) {
  int bodies = 0;
  for (DType dtype : kAllTypes) {
    for (int64_t size : {1, 7, 15, 16, 17, 33, 1000}) {
      for (const ir::Graph& body : BodiesOf(*GetParam(), dtype, Shape{size})) {
        SCOPED_TRACE(
            absl::StrCat(DTypeName(dtype), " -> ", body.type(body.outputs()[0]).ToString()));
        ++bodies;
        const std::vector<Literal> inputs = RandomInputs(body, static_cast<int>(size));
        const auto got = RunBody(body, Target::Host(), inputs);
        ASSERT_TRUE(got.ok()) << got.status();
        ExpectNear(*got, Reference(body, inputs), kTolerance);
      }
    }
  }
  EXPECT_GT(bodies, 0);
}

TEST_P(ElementwiseOpTest, MatchesTheReferenceOnLesserCpus) {
  for (DType dtype : kAllTypes) {
    for (const ir::Graph& body : BodiesOf(*GetParam(), dtype, Shape{37})) {
      const std::vector<Literal> inputs = RandomInputs(body, 3);
      for (const char* cpu : {"x86-64-v2", "x86-64-v3"}) {
        const auto got = RunBody(body, Target::HostWithCpu(cpu).value(), inputs);
        ASSERT_TRUE(got.ok()) << got.status();
        ExpectNear(*got, Reference(body, inputs), kTolerance);
      }
    }
  }
}

// Operands of one element at a time, at the end of a longer tensor and at its start: the bits must
// not depend on the place or on the neighbours.
TEST_P(ElementwiseOpTest, GivesTheSameBitsWhereverTheElementLies) {
  for (DType dtype : kAllTypes) {
    const auto longer = BodiesOf(*GetParam(), dtype, Shape{101});
    const auto shorter = BodiesOf(*GetParam(), dtype, Shape{1});
    for (size_t b = 0; b < longer.size(); ++b) {
      std::vector<Literal> inputs = RandomInputs(longer[b], 9);
      AddSpecialValues(inputs[0]);
      const auto all = RunBody(longer[b], Target::Host(), inputs);
      ASSERT_TRUE(all.ok()) << all.status();
      const auto kernel = CompileFusion(shorter[b], Target::Host(), "kernel");
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      for (int64_t i = 0; i < 101; ++i) {
        std::vector<Literal> one;
        for (const Literal& input : inputs) {
          one.emplace_back(TensorType{input.dtype(), Shape{1}});
          const int64_t bytes = ByteSize(input.dtype());
          std::memcpy(one.back().bytes().data(), input.bytes().data() + i * bytes, bytes);
        }
        const auto alone = RunKernel(shorter[b], *kernel, one);
        ASSERT_TRUE(alone.ok()) << alone.status();
        const int64_t bytes = ByteSize((*all)[0].dtype());
        EXPECT_EQ(
            std::memcmp((*alone)[0].bytes().data(), (*all)[0].bytes().data() + i * bytes, bytes), 0)
            << "element " << i << ": " << (*alone)[0].AsDouble(0) << " and "
            << (*all)[0].AsDouble(i);
      }
    }
  }
}

TEST_P(ElementwiseOpTest, TreatsSpecialValuesAsTheReferenceDoes) {
  for (DType dtype : {DType::kF32, DType::kBF16, DType::kI32, DType::kU8}) {
    for (const ir::Graph& body : BodiesOf(*GetParam(), dtype, Shape{135})) {
      SCOPED_TRACE(body.type(body.outputs()[0]).ToString());
      std::vector<Literal> inputs = RandomInputs(body, 4);
      for (Literal& input : inputs) AddSpecialValues(input);
      const auto got = RunBody(body, Target::Host(), inputs);
      ASSERT_TRUE(got.ok()) << got.status();
      ExpectNear(*got, Reference(body, inputs), kTolerance);
    }
  }
}

std::vector<const ir::OpDef*> ElementwiseOps() {
  std::vector<const ir::OpDef*> ops;
  for (const ir::OpDef* op : ops::AllOps()) {
    if (op->traits.op_class == ir::OpClass::kElementwise) ops.push_back(op);
  }
  return ops;
}

INSTANTIATE_TEST_SUITE_P(Ops, ElementwiseOpTest, ::testing::ValuesIn(ElementwiseOps()),
                         [](const auto& info) { return std::string(info.param->name); });

// Every upper half of an f32 with lower halves around the ties: denormals, infinities and NaN too.
TEST(ConvertTest, RoundsToBF16Exactly) {
  const ir::Graph body = ParseBody(R"(graph {
    %0 = input() : f32[524288]
    %1 = convert(%0){dtype=bf16}
    return %1
  })");
  Literal input(body.type(body.input(0)));
  constexpr uint32_t kLow[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff, 0x1234};
  for (int64_t i = 0; i < input.num_elements(); ++i) {
    input.data<float>()[i] =
        std::bit_cast<float>(static_cast<uint32_t>(i / 8) << 16 | kLow[i % std::size(kLow)]);
  }
  for (const char* cpu : {"x86-64-v2", "x86-64-v3", ""}) {
    const Target target = *cpu == 0 ? Target::Host() : Target::HostWithCpu(cpu).value();
    const auto got = RunBody(body, target, {input});
    ASSERT_TRUE(got.ok()) << got.status();
    for (int64_t i = 0; i < input.num_elements(); ++i) {
      ASSERT_EQ((*got)[0].data<BF16>()[i].bits, ToBF16(input.data<float>()[i]).bits) << i;
    }
  }
}

TEST(GeneratorTest, IotaAndConstants) {
  for (const char* dtype : {"f32", "bf16", "i32", "i64", "u8"}) {
    CheckBody(absl::StrReplaceAll(R"(graph {
      %0 = input() : TYPE[3,20]
      %1 = iota(){axis=1, dtype=TYPE, shape=[3, 20]}
      %2 = iota(){axis=0, dtype=TYPE, shape=[3, 20]}
      %3 = constant(){value=TYPE[4] {1, 2, 3, 5}}
      %4 = broadcast(%3){axes=[1], shape=[15, 4]}
      %5 = reshape(%4){shape=[3, 20]}
      %6 = add(%0, %1)
      %7 = mul(%2, %5)
      %8 = add(%6, %7)
      return %8, %5, %1
    })",
                                  {{"TYPE", dtype}}));
  }
}

}  // namespace
}  // namespace trencadis::codegen
