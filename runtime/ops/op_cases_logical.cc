// Cases of ops that compute with bool, of generators, of random numbers, of barrier and fusion.
#include <limits>

#include "absl/strings/str_cat.h"
#include "runtime/ops/op_case_tables.h"
#include "runtime/ops/registry.h"

namespace trencadis::ops {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

const std::vector<DType>& AllTypes() {
  static const auto* const types = new std::vector<DType>{DType::kF32, DType::kBF16, DType::kI32,
                                                          DType::kI64, DType::kBool, DType::kU8};
  return *types;
}

// Few distinct values, so that all outcomes happen.
OperandSpec FewValues(DType dtype, Shape shape) {
  if (IsFloat(dtype)) return Uniform(dtype, std::move(shape), -2, 2);
  return Uniform(dtype, std::move(shape), 0, dtype == DType::kBool ? 1 : 3);
}

void AddComparison(OpCases& cases, const std::string& op, const std::vector<bool>& expected) {
  for (DType dtype : AllTypes()) {
    if (dtype == DType::kBool && op != "eq" && op != "ne") continue;
    for (const Shape& shape : {Shape{}, Shape{3, 21}}) {
      cases.push_back({.name = absl::StrCat(op, "/", TensorType{dtype, shape}.ToString()),
                       .op = op,
                       .operands = {FewValues(dtype, shape), FewValues(dtype, shape)}});
    }
  }
  cases.push_back({.name = op + "/known",
                   .op = op,
                   .operands = {Given<float>({6}, {1, 2, 2, kNan, 0.0f, -kInf}),
                                Given<float>({6}, {2, 2, 1, kNan, -0.0f, kInf})},
                   .expected = {Literal::FromVector<bool>({6}, expected)}});
}

void AddSelectCases(OpCases& cases) {
  for (DType dtype : AllTypes()) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{3, 21}}) {
      cases.push_back({.name = absl::StrCat("select/", TensorType{dtype, shape}.ToString()),
                       .op = "select",
                       .operands = {Uniform(DType::kBool, shape, 0, 1), FewValues(dtype, shape),
                                    FewValues(dtype, shape)}});
    }
  }
  cases.push_back({.name = "select/known",
                   .op = "select",
                   .operands = {Given<bool>({3}, {true, false, true}),
                                Given<float>({3}, {1, 2, kNan}), Given<float>({3}, {4, 5, 6})},
                   .expected = {Literal::FromVector<float>({3}, {1, 5, kNan})}});
  cases.push_back({.name = "select/gradient",
                   .op = "select",
                   .operands = {Uniform(DType::kBool, {3, 4}, 0, 1), Uniform(DType::kF32, {3, 4}),
                                Uniform(DType::kF32, {3, 4})},
                   .check_gradient = true});
}

ir::GraphPtr FusionBody(DType dtype) {
  auto body = std::make_shared<ir::Graph>();
  const Shape shape = {5, 9};
  const ir::Value x = body->AddInput({dtype, shape});
  const ir::Value y = body->AddInput({dtype, shape});
  const auto add = [&](const char* op, std::vector<ir::Value> operands,
                       ir::Attributes attributes = {}) {
    const auto node = body->AddNode(FindOp(op), std::move(operands), std::move(attributes));
    TRENCADIS_CHECK(node.ok());
    return ir::Value{*node, 0};
  };
  const ir::Value product = add("mul", {x, y});
  const ir::Value activated = add("silu", {product});
  const ir::Value sums = add("reduce_sum", {activated}, {{"axes", Ints{1}}});
  body->SetOutputs({activated, sums});
  return body;
}

}  // namespace

void AddLogicalCases(OpCases& cases) {
  for (const char* op : {"and", "or", "xor"}) {
    AddElementwiseCases(cases, op, {{0, 1}, {0, 1}}, {DType::kBool});
    AddElementwiseCases(cases, op, {{0, 255}, {0, 255}}, {DType::kU8});
    AddElementwiseCases(cases, op, {{-999, 999}, {-999, 999}}, {DType::kI32, DType::kI64});
  }
  AddElementwiseCases(cases, "not", {{0, 1}}, {DType::kBool});
  AddElementwiseCases(cases, "not", {{0, 255}}, {DType::kU8, DType::kI32, DType::kI64});
  const auto known = [&](const std::string& op, std::vector<OperandSpec> operands, Literal result) {
    cases.push_back({.name = absl::StrCat(op, "/known_", DTypeName(operands[0].type.dtype)),
                     .op = op,
                     .operands = std::move(operands),
                     .expected = {std::move(result)}});
  };
  const OperandSpec a = Given<int32_t>({2}, {0b1100, -1});
  const OperandSpec b = Given<int32_t>({2}, {0b1010, 7});
  known("and", {a, b}, Literal::FromVector<int32_t>({2}, {0b1000, 7}));
  known("or", {a, b}, Literal::FromVector<int32_t>({2}, {0b1110, -1}));
  known("xor", {a, b}, Literal::FromVector<int32_t>({2}, {0b0110, -8}));
  known("not", {a}, Literal::FromVector<int32_t>({2}, {-13, 0}));
  known("not", {Given<bool>({2}, {true, false})}, Literal::FromVector<bool>({2}, {false, true}));

  AddComparison(cases, "eq", {false, true, false, false, true, false});
  AddComparison(cases, "ne", {true, false, true, true, false, true});
  AddComparison(cases, "lt", {true, false, false, false, false, true});
  AddComparison(cases, "le", {true, true, false, false, true, true});
  AddComparison(cases, "gt", {false, false, true, false, false, false});
  AddComparison(cases, "ge", {false, true, true, false, true, false});
  AddElementwiseCases(cases, "is_finite", {{-2, 2}}, {DType::kF32, DType::kBF16});
  known("is_finite", {Given<float>({4}, {1, kInf, -kInf, kNan})},
        Literal::FromVector<bool>({4}, {true, false, false, false}));
  AddSelectCases(cases);
}

void AddGeneratorCases(OpCases& cases) {
  for (DType dtype : AllTypes()) {
    for (const Shape& shape : {Shape{}, Shape{0, 3}, Shape{3, 5}}) {
      const Literal value = MakeOperand(FewValues(dtype, shape), 1);
      cases.push_back({.name = absl::StrCat("constant/", value.type().ToString()),
                       .op = "constant",
                       .attributes = {{"value", std::make_shared<const Literal>(value)}},
                       .expected = {value}});
    }
  }
  for (DType dtype : {DType::kF32, DType::kBF16, DType::kI32, DType::kI64, DType::kU8}) {
    for (int64_t axis : {0, 1, 2}) {
      cases.push_back(
          {.name = absl::StrCat("iota/", DTypeName(dtype), "_", axis),
           .op = "iota",
           .attributes = {{"dtype", dtype}, {"shape", Ints{3, 2, 17}}, {"axis", axis}}});
    }
  }
  cases.push_back(
      {.name = "iota/known",
       .op = "iota",
       .attributes = {{"dtype", DType::kI32}, {"shape", Ints{2, 3}}, {"axis", int64_t{1}}},
       .expected = {Literal::FromVector<int32_t>({2, 3}, {0, 1, 2, 0, 1, 2})}});
  cases.push_back(
      {.name = "iota/empty",
       .op = "iota",
       .attributes = {{"dtype", DType::kI64}, {"shape", Ints{0}}, {"axis", int64_t{0}}}});
}

void AddRandomCases(OpCases& cases) {
  const auto words = [](Shape shape) {
    return Uniform(DType::kI32, std::move(shape), -2147483648.0, 2147483647.0);
  };
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{5, 33}}) {
    cases.push_back({.name = absl::StrCat("philox_uniform/", shape.ToString()),
                     .op = "philox_uniform",
                     .operands = std::vector<OperandSpec>(6, words(shape))});
  }
  // The known answers of the paper's implementation (Random123, kat_vectors, philox4x32 10): first
  // words 6627e8d5, 408f276d and d16cfe09.
  const auto known = [&](const std::string& name, std::vector<uint32_t> input, uint32_t word) {
    OpCase op_case = {.name = "philox_uniform/known_" + name, .op = "philox_uniform"};
    for (uint32_t value : input) {
      op_case.operands.push_back(Given<int32_t>({1}, {static_cast<int32_t>(value)}));
    }
    op_case.expected = {
        Literal::FromVector<float>({1}, {static_cast<float>(word >> 8) * 0x1p-24f})};
    op_case.tolerance = {};
    cases.push_back(std::move(op_case));
  };
  known("zeros", {0, 0, 0, 0, 0, 0}, 0x6627e8d5);
  known("ones", std::vector<uint32_t>(6, 0xffffffff), 0x408f276d);
  known("pi", {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0}, 0xd16cfe09);
  AddLargeElementwiseCase(cases, "philox_uniform",
                          std::vector<Range>(6, {-2147483648.0, 2147483647.0}), DType::kI32);
}

void AddStructuralCases(OpCases& cases) {
  cases.push_back({.name = "barrier/known",
                   .op = "barrier",
                   .operands = {Given<float>({2}, {1, 2}), Uniform(DType::kI32, {3})},
                   .expected = {Literal::FromVector<float>({2}, {1, 2})}});
  cases.push_back({.name = "barrier/gradient",
                   .op = "barrier",
                   .operands = {Uniform(DType::kF32, {2, 3}), Uniform(DType::kF32, {1})},
                   .check_gradient = true});
  for (DType dtype : {DType::kF32, DType::kBF16}) {
    cases.push_back({.name = absl::StrCat("fusion/", DTypeName(dtype)),
                     .op = "fusion",
                     .attributes = {{"body", FusionBody(dtype)}},
                     .operands = {Uniform(dtype, {5, 9}), Uniform(dtype, {5, 9})}});
  }
}

}  // namespace trencadis::ops
