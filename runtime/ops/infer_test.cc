// What shape inference refuses, and how it says so.
#include <string>

#include "gtest/gtest.h"
#include "runtime/ir/op_def.h"
#include "runtime/ops/registry.h"

namespace trencadis::ops {
namespace {

using Ints = std::vector<int64_t>;

TensorType Type(absl::string_view text) {
  const auto type = ParseTensorType(text);
  EXPECT_TRUE(type.ok()) << type.status();
  return *type;
}

std::string ErrorOf(absl::string_view op, const std::vector<std::string>& operands,
                    const ir::Attributes& attributes = {}) {
  ir::TypeList types;
  for (const std::string& operand : operands) types.push_back(Type(operand));
  const auto results = ir::InferTypes(*FindOp(op), types, attributes);
  return results.ok() ? "" : std::string(results.status().message());
}

TEST(InferTest, Elementwise) {
  EXPECT_EQ(ErrorOf("add", {"f32[2]", "f32[3]"}),
            "add: operand 1 is f32[3]; wanted the type of operand 0, f32[2]");
  EXPECT_EQ(ErrorOf("add", {"f32[2]", "bf16[2]"}),
            "add: operand 1 is bf16[2]; wanted the type of operand 0, f32[2]");
  EXPECT_EQ(ErrorOf("add", {"bool[2]", "bool[2]"}),
            "add: operand 0 is bool[2]; wanted a type of numbers");
  EXPECT_EQ(ErrorOf("exp", {"i32[2]"}), "exp: operand 0 is i32[2]; wanted f32 or bf16");
  EXPECT_EQ(ErrorOf("and", {"f32[2]", "f32[2]"}),
            "and: operand 0 is f32[2]; wanted bool or an integer type");
  EXPECT_EQ(ErrorOf("lt", {"bool[]", "bool[]"}),
            "lt: operand 0 is bool[]; wanted a type of numbers");
  EXPECT_EQ(ErrorOf("select", {"i32[2]", "f32[2]", "f32[2]"}),
            "select: operand 0 is i32[2]; wanted bool[2]");
  EXPECT_EQ(ErrorOf("select", {"bool[2]", "f32[2]", "f32[]"}),
            "select: operand 2 is f32[]; wanted f32[2]");
  EXPECT_EQ(ErrorOf("is_finite", {"i32[]"}), "is_finite: operand 0 is i32[]; wanted f32 or bf16");
  EXPECT_EQ(ErrorOf("convert", {"f32[]"}), "convert: attribute 'dtype' is missing; wanted a dtype");
  EXPECT_EQ(ErrorOf("philox_uniform", {"i32[]", "i32[]", "i32[]", "i32[]", "i32[]", "i64[]"}),
            "philox_uniform: operand 5 is i64[]; wanted the type of operand 0, i32[]");
}

TEST(InferTest, Views) {
  EXPECT_EQ(ErrorOf("broadcast", {"f32[3]"}, {{"shape", Ints{2, 4}}, {"axes", Ints{1}}}),
            "broadcast: dimension 0 of f32[3] cannot become 4; only a dimension of 1 is stretched");
  EXPECT_EQ(ErrorOf("broadcast", {"f32[3]"}, {{"shape", Ints{2, 3}}, {"axes", Ints{2}}}),
            "broadcast: axes are [2]; wanted increasing axes below 2");
  EXPECT_EQ(ErrorOf("broadcast", {"f32[3]"}, {{"shape", Ints{2, 3}}, {"axes", Ints{}}}),
            "broadcast: axes has 0 entries; wanted one per dimension, 1");
  EXPECT_EQ(ErrorOf("reshape", {"f32[2,3]"}, {{"shape", Ints{4}}}),
            "reshape: f32[2,3] has 6 elements; the shape [4] wants 4");
  EXPECT_EQ(ErrorOf("reshape", {"f32[1]"}, {{"shape", Ints{-1, -1}}}),
            "reshape: f32[-1,-1] has a negative dimension");
  EXPECT_EQ(ErrorOf("transpose", {"f32[2,3]"}, {{"permutation", Ints{0, 0}}}),
            "transpose: permutation is [0,0]; wanted each axis below 2 once");
  EXPECT_EQ(ErrorOf("slice", {"f32[5]"},
                    {{"starts", Ints{1}}, {"limits", Ints{6}}, {"strides", Ints{1}}}),
            "slice: slice 1:6:1 of dimension 0 of f32[5]; wanted 0 <= start <= limit <= dimension "
            "and stride >= 1");
  EXPECT_EQ(ErrorOf("reverse", {"f32[5]"}, {{"axes", Ints{0, 0}}}),
            "reverse: axes are [0,0]; wanted increasing axes below 1");
  EXPECT_EQ(ErrorOf("pad", {"f32[5]"}, {{"low", Ints{-1}}, {"high", Ints{0}}, {"value", 0.0}}),
            "pad: padding of dimension 0 is -1 and 0; wanted 0 to 2^48");
  EXPECT_EQ(ErrorOf("concatenate", {"f32[2,3]", "f32[3,3]"}, {{"axis", int64_t{1}}}),
            "concatenate: operand 1 is f32[3,3]; wanted f32[2,3]");
  EXPECT_EQ(ErrorOf("concatenate", {}, {{"axis", int64_t{0}}}),
            "concatenate: got no operand; wanted at least one");
  EXPECT_EQ(ErrorOf("iota", {}, {{"dtype", DType::kI32}, {"shape", Ints{3}}, {"axis", int64_t{1}}}),
            "iota: axis is 1; wanted at least 0 and less than the rank, 1");
}

TEST(InferTest, ReductionsAndIndexing) {
  EXPECT_EQ(ErrorOf("reduce_sum", {"f32[2]"}, {{"axes", Ints{1}}}),
            "reduce_sum: axes are [1]; wanted increasing axes below 1");
  EXPECT_EQ(ErrorOf("reduce_max", {"bool[2]"}, {{"axes", Ints{0}}}),
            "reduce_max: operand 0 is bool[2]; wanted a type of numbers");
  EXPECT_EQ(ErrorOf("take", {"f32[3]", "f32[2]"}),
            "take: operand 1 is f32[2]; wanted i32 or i64 indices");
  EXPECT_EQ(ErrorOf("take", {"f32[]", "i32[2]"}),
            "take: operand 0 is f32[]; wanted at least rank 1");
  EXPECT_EQ(ErrorOf("scatter_add", {"i32[2]", "f32[3,4]"}, {{"rows", int64_t{5}}}),
            "scatter_add: operand 1 is f32[3,4]; wanted a shape that starts with the ids', [2]");
  EXPECT_EQ(ErrorOf("argmax", {"f32[3,0]"}, {{"axis", int64_t{1}}}),
            "argmax: operand 0 is f32[3,0]; wanted 1 to 2^31 - 1 elements along axis 1");
  EXPECT_EQ(
      ErrorOf("dynamic_slice", {"f32[4]", "i32[]"}, {{"axis", int64_t{0}}, {"size", int64_t{5}}}),
      "dynamic_slice: size is 5; wanted 0 to 4, dimension 0 of f32[4]");
  EXPECT_EQ(ErrorOf("dynamic_update_slice", {"f32[4]", "f32[5]", "i32[]"}, {{"axis", int64_t{0}}}),
            "dynamic_update_slice: operand 1 is f32[5]; wanted f32[4]");
  EXPECT_EQ(
      ErrorOf("dynamic_slice", {"f32[4]", "i64[]"}, {{"axis", int64_t{0}}, {"size", int64_t{1}}}),
      "dynamic_slice: operand 1 is i64[]; wanted i32[]");
}

TEST(InferTest, Matmul) {
  EXPECT_EQ(ErrorOf("matmul", {"f32[2,3]", "f32[4,5]"}),
            "matmul: operand 0 is f32[2,3], operand 1 is f32[4,5]; the inner dimensions 3 and 4 "
            "differ");
  EXPECT_EQ(ErrorOf("matmul", {"f32[2,3,4]", "f32[3,4,5]"}),
            "matmul: operand 0 is f32[2,3,4], operand 1 is f32[3,4,5]; the batch dimensions "
            "differ");
  EXPECT_EQ(ErrorOf("matmul", {"f32[2,4,3]", "f32[4,5]"}, {{"transpose_a", true}}),
            "matmul: operand 0 is f32[2,4,3], operand 1 is f32[4,5]; with transpose_a a single "
            "matrix b needs an a of rank 2");
  EXPECT_EQ(ErrorOf("matmul", {"f32[3]", "f32[3,2]"}),
            "matmul: operand 0 is f32[3], operand 1 is f32[3,2]; wanted at least rank 2 for both");
  EXPECT_EQ(ErrorOf("matmul", {"f32[2,3]", "bf16[3,2]"}),
            "matmul: operand 1 is bf16[3,2]; wanted f32");
  EXPECT_EQ(ErrorOf("matmul", {"f32[2,3]", "f32[3,2]"}, {{"dtype", DType::kI32}}),
            "matmul: dtype is i32; wanted f32 or bf16");
}

TEST(InferTest, Composites) {
  const ir::Attributes plain = {{"scale", 1.0}, {"causal", true}};
  const std::string q = "f32[2,3,4,8]", kv = "f32[2,5,2,8]";
  EXPECT_EQ(ErrorOf("attention", {q, kv}, plain), "attention: got 2 operands; wanted at least 3");
  EXPECT_EQ(ErrorOf("attention", {q, "f32[2,5,3,8]", "f32[2,5,3,8]"}, plain),
            "attention: 4 query heads share 3 key-value heads; wanted a multiple");
  EXPECT_EQ(ErrorOf("attention", {q, kv, "f32[2,6,2,8]"}, plain),
            "attention: operand 2 is f32[2,6,2,8]; wanted f32[2,5,2,8]");
  EXPECT_EQ(ErrorOf("attention", {q, kv, kv, "i32[]"}, plain),
            "attention: got 4 operands; has_segments and has_offset make it 3");
  EXPECT_EQ(ErrorOf("attention", {q, kv, kv, "i32[2,3]", "i32[2,4]"},
                    {{"scale", 1.0}, {"causal", true}, {"has_segments", true}}),
            "attention: operand 4 is i32[2,4]; wanted i32[2,5]");
  EXPECT_EQ(ErrorOf("attention", {q, kv, kv},
                    {{"scale", 1.0}, {"causal", true}, {"window", int64_t{-1}}}),
            "attention: window is -1; wanted 0 (none) or more");
  EXPECT_EQ(ErrorOf("attention_grad", {q, q, kv, kv, q, "f32[2,3,4]"}, plain),
            "attention_grad: operand 5 is f32[2,3,4]; wanted f32[2,4,3]");
  EXPECT_EQ(ErrorOf("linear_cross_entropy", {"f32[3,4]", "f32[7,5]", "i32[3]"}),
            "linear_cross_entropy: operand 1 is f32[7,5]; wanted f32[7,4]");
  EXPECT_EQ(ErrorOf("linear_cross_entropy", {"f32[3,4]", "f32[7,4]", "i32[4]"}),
            "linear_cross_entropy: operand 2 is i32[4]; wanted i32[3]");
  EXPECT_EQ(ErrorOf("linear_cross_entropy", {"f32[3,4]", "f32[7,4]", "i32[3]"},
                    {{"label_smoothing", 1.5}}),
            "linear_cross_entropy: label_smoothing is 1.5; wanted 0 to 1");
  EXPECT_EQ(ErrorOf("barrier", {}), "barrier: got no operand; wanted at least one");
}

}  // namespace
}  // namespace trencadis::ops
