// Cases of elementwise ops: unary, activations, binary.
#include <limits>

#include "absl/strings/str_cat.h"
#include "runtime/ops/op_case_tables.h"

namespace trencadis::ops {
namespace {

using Floats = std::vector<float>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int32_t kMin32 = std::numeric_limits<int32_t>::min();
constexpr int32_t kMax32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax64 = std::numeric_limits<int64_t>::max();

const Floats& Specials() {
  static const Floats* const values =
      new Floats{0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 100.0f, -100.0f, 1e4f, -1e4f, kInf, -kInf, kNan};
  return *values;
}

// x and y = op(x), known from tables; then shapes and dtypes; then NaN, infinities and zeros.
void AddUnary(OpCases& cases, const std::string& op, Range range, const Floats& x, const Floats& y,
              bool has_gradient = true) {
  const Shape shape = {static_cast<int64_t>(x.size())};
  cases.push_back({.name = op + "/known",
                   .op = op,
                   .operands = {Given(shape, x)},
                   .expected = {Literal::FromVector(shape, y)}});
  AddElementwiseCases(cases, op, {range}, {DType::kF32, DType::kBF16});
  cases.push_back({.name = op + "/specials",
                   .op = op,
                   .operands = {Given({static_cast<int64_t>(Specials().size())}, Specials())}});
  if (has_gradient) {
    cases.push_back({.name = op + "/gradient",
                     .op = op,
                     .operands = {Distinct(DType::kF32, {3, 4}, range.low, range.high)},
                     .check_gradient = true});
  }
  AddLargeElementwiseCase(cases, op, {range}, DType::kF32);
}

void AddDerivative(OpCases& cases, const std::string& op, float at_one, float at_minus_one) {
  cases.push_back(
      {.name = op + "/known",
       .op = op,
       .operands = {Given<float>({3}, {1, -1, 0}), Given<float>({3}, {2, 1, 3})},
       .expected = {Literal::FromVector<float>({3}, {2 * at_one, at_minus_one, 1.5f})}});
  AddElementwiseCases(cases, op, {{-4, 4}, {-2, 2}}, {DType::kF32, DType::kBF16});
}

// Every combination of two special values.
void AddSpecialPairs(OpCases& cases, const std::string& op) {
  Floats x, y;
  for (float a : Specials()) {
    for (float b : Specials()) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  const Shape shape = {static_cast<int64_t>(x.size())};
  cases.push_back(
      {.name = op + "/specials", .op = op, .operands = {Given(shape, x), Given(shape, y)}});
}

template <typename T>
void AddKnown(OpCases& cases, const std::string& op, const std::vector<T>& x,
              const std::vector<T>& y, const std::vector<T>& expected) {
  const Shape shape = {static_cast<int64_t>(x.size())};
  cases.push_back({.name = absl::StrCat(op, "/known_", DTypeName(DTypeOf<T>())),
                   .op = op,
                   .operands = {Given(shape, x), Given(shape, y)},
                   .expected = {Literal::FromVector(shape, expected)}});
}

void AddBinary(OpCases& cases, const std::string& op) {
  AddElementwiseCases(cases, op, {{-3, 3}, {-3, 3}},
                      {DType::kF32, DType::kBF16, DType::kI32, DType::kI64});
  AddElementwiseCases(cases, op, {{0, 255}, {0, 255}}, {DType::kU8});
  AddSpecialPairs(cases, op);
  AddLargeElementwiseCase(cases, op, {{-3, 3}, {-3, 3}}, DType::kF32);
}

void AddBinaryGradient(OpCases& cases, const std::string& op, Range x, Range y) {
  cases.push_back({.name = op + "/gradient",
                   .op = op,
                   .operands = {Distinct(DType::kF32, {3, 4}, x.low, x.high),
                                Distinct(DType::kF32, {3, 4}, y.low, y.high)},
                   .check_gradient = true});
}

void AddConvertCases(OpCases& cases) {
  const std::vector<DType> dtypes = {DType::kF32, DType::kBF16, DType::kI32,
                                     DType::kI64, DType::kBool, DType::kU8};
  for (DType from : dtypes) {
    for (DType to : dtypes) {
      // Values that every type can hold, cut or rounded.
      const double high = from == DType::kBool ? 1 : 99;
      cases.push_back({.name = absl::StrCat("convert/", DTypeName(from), "_to_", DTypeName(to)),
                       .op = "convert",
                       .attributes = {{"dtype", to}},
                       .operands = {Uniform(from, {5, 7}, 0, high)}});
    }
  }
  const auto known = [&](const std::string& name, Literal from, Literal to) {
    cases.push_back({.name = "convert/" + name,
                     .op = "convert",
                     .attributes = {{"dtype", to.dtype()}},
                     .operands = {Given(std::move(from))},
                     .expected = {std::move(to)}});
  };
  known("truncates", Literal::FromVector<float>({4}, {1.9f, -1.9f, 0.5f, 1e6f}),
        Literal::FromVector<int32_t>({4}, {1, -1, 0, 1000000}));
  known("rounds_to_even", Literal::FromVector<float>({3}, {1.00390625f, 1.01171875f, -0.0f}),
        Literal::FromVector<BF16>({3}, {{0x3f80}, {0x3f82}, {0x8000}}));
  known("wraps", Literal::FromVector<int64_t>({3}, {-1, (int64_t{1} << 32) + 5, 300}),
        Literal::FromVector<int32_t>({3}, {-1, 5, 300}));
  known("wraps_u8", Literal::FromVector<int32_t>({3}, {-1, 256, 300}),
        Literal::FromVector<uint8_t>({3}, {255, 0, 44}));
  known("i64_rounds_once", Literal::FromVector<int64_t>({2}, {16777217, 9007199791611905}),
        Literal::FromVector<float>({2}, {16777216.0f, 9007200328482816.0f}));
  known("bool", Literal::FromVector<float>({4}, {0.0f, -0.0f, 0.25f, kNan}),
        Literal::FromVector<bool>({4}, {false, false, true, true}));
  cases.push_back({.name = "convert/gradient",
                   .op = "convert",
                   .attributes = {{"dtype", DType::kF32}},
                   .operands = {Uniform(DType::kF32, {2, 3})},
                   .check_gradient = true});
}

void AddActivationCases(OpCases& cases) {
  AddUnary(cases, "sigmoid", {-6, 6}, {0, 1}, {0.5f, 0.73105858f});
  AddUnary(cases, "relu", {-2, 2}, {-1, 2, 0}, {0, 2, 0});
  AddUnary(cases, "silu", {-6, 6}, {0, 1}, {0, 0.73105858f});
  AddUnary(cases, "gelu_erf", {-4, 4}, {0, 1}, {0, 0.84134475f});
  AddUnary(cases, "gelu_tanh", {-4, 4}, {0, 1}, {0, 0.84119199f});
  AddDerivative(cases, "silu_grad", 0.92767051f, 0.07232949f);
  AddDerivative(cases, "gelu_erf_grad", 1.08331547f, -0.08331547f);
  AddDerivative(cases, "gelu_tanh_grad", 1.08296408f, -0.08296408f);
}

}  // namespace

void AddElementwiseCases(OpCases& cases, const std::string& op, const std::vector<Range>& ranges,
                         const std::vector<DType>& dtypes) {
  const std::vector<Shape> all = {{}, {0}, {1}, {7}, {3, 0, 2}, {3, 5}, {2, 3, 17}, {33, 65}};
  const std::vector<Shape> few = {{}, {2, 3, 17}};
  for (DType dtype : dtypes) {
    for (const Shape& shape : dtype == DType::kF32 ? all : few) {
      OpCase op_case = {.name = absl::StrCat(op, "/", TensorType{dtype, shape}.ToString()),
                        .op = op};
      for (Range range : ranges) {
        op_case.operands.push_back(Uniform(dtype, shape, range.low, range.high));
      }
      cases.push_back(std::move(op_case));
    }
  }
}

void AddLargeElementwiseCase(OpCases& cases, const std::string& op,
                             const std::vector<Range>& ranges, DType dtype) {
  OpCase op_case = {.name = op + "/large", .op = op};
  for (Range range : ranges) {
    op_case.operands.push_back(Uniform(dtype, {1024, 1024}, range.low, range.high));
  }
  op_case.large = true;
  cases.push_back(std::move(op_case));
}

void AddUnaryCases(OpCases& cases) {
  AddUnary(cases, "neg", {-2, 2}, {1, -2, 0}, {-1, 2, -0.0f});
  AddUnary(cases, "abs", {-2, 2}, {1, -2, -0.0f}, {1, 2, 0});
  for (const char* op : {"neg", "abs"}) {
    AddElementwiseCases(cases, op, {{-9, 9}}, {DType::kI32, DType::kI64});
    AddElementwiseCases(cases, op, {{0, 255}}, {DType::kU8});
    cases.push_back({.name = absl::StrCat(op, "/lowest"),
                     .op = op,
                     .operands = {Given<int32_t>({2}, {kMin32, -kMax32})},
                     .expected = {Literal::FromVector<int32_t>({2}, {kMin32, kMax32})}});
  }
  AddUnary(cases, "exp", {-4, 4}, {0, 1, -1}, {1, 2.71828183f, 0.36787944f});
  AddUnary(cases, "log", {0.1, 4}, {1, 2.71828183f}, {0, 1});
  AddUnary(cases, "log1p", {-0.5, 3}, {0, 1.71828183f}, {0, 1});
  AddUnary(cases, "expm1", {-2, 2}, {0, 1, 1e-6f}, {0, 1.71828183f, 1.0000005e-6f});
  AddUnary(cases, "sqrt", {0.1, 4}, {4, 2.25f}, {2, 1.5f});
  AddUnary(cases, "rsqrt", {0.1, 4}, {4, 0.25f}, {0.5f, 2});
  AddUnary(cases, "tanh", {-3, 3}, {0, 1}, {0, 0.76159416f});
  AddUnary(cases, "erf", {-3, 3}, {0, 1}, {0, 0.84270079f});
  AddUnary(cases, "sin", {-9, 9}, {0, 1}, {0, 0.84147098f});
  AddUnary(cases, "cos", {-9, 9}, {0, 1}, {1, 0.54030231f});
  AddUnary(cases, "floor", {-9, 9}, {1.5f, -1.5f, 2}, {1, -2, 2}, false);
  AddUnary(cases, "ceil", {-9, 9}, {1.5f, -1.5f, 2}, {2, -1, 2}, false);
  AddConvertCases(cases);
  AddActivationCases(cases);
}

void AddBinaryCases(OpCases& cases) {
  for (const char* op : {"add", "sub", "mul", "div", "rem", "max", "min"}) AddBinary(cases, op);
  AddElementwiseCases(cases, "pow", {{0.1, 3}, {-3, 3}}, {DType::kF32, DType::kBF16});
  AddSpecialPairs(cases, "pow");

  AddKnown<float>(cases, "add", {1, 2.5f}, {2, -0.5f}, {3, 2});
  AddKnown<int32_t>(cases, "add", {kMax32, -1}, {1, -1}, {kMin32, -2});
  AddKnown<uint8_t>(cases, "add", {250, 1}, {10, 2}, {4, 3});
  AddKnown<float>(cases, "sub", {1, 2.5f}, {2, -0.5f}, {-1, 3});
  AddKnown<int64_t>(cases, "sub", {kMin64, 5}, {1, 7}, {kMax64, -2});
  AddKnown<uint8_t>(cases, "sub", {3, 9}, {5, 2}, {254, 7});
  AddKnown<float>(cases, "mul", {3, -2}, {2, 0.5f}, {6, -1});
  AddKnown<int64_t>(cases, "mul", {kMax64, -3}, {2, 5}, {-2, -15});
  AddKnown<float>(cases, "div", {3, 1, -1}, {2, 0, 0}, {1.5f, kInf, -kInf});
  AddKnown<int32_t>(cases, "div", {7, -7, 7, -7, kMin32, 5}, {2, 2, -2, -2, -1, 0},
                    {3, -3, -3, 3, kMin32, 0});
  AddKnown<int64_t>(cases, "div", {kMin64, 9}, {-1, 0}, {kMin64, 0});
  AddKnown<uint8_t>(cases, "div", {200, 200}, {3, 0}, {66, 0});
  AddKnown<float>(cases, "rem", {5.5f, -5.5f, 5.5f}, {2, 2, -2}, {1.5f, -1.5f, 1.5f});
  AddKnown<int32_t>(cases, "rem", {7, -7, 7, kMin32, 5}, {2, 2, -2, -1, 0}, {1, -1, 1, 0, 0});
  AddKnown<uint8_t>(cases, "rem", {200, 200}, {3, 0}, {2, 0});
  AddKnown<float>(cases, "pow", {2, 4, 2, 0}, {3, 0.5f, -1, 0}, {8, 2, 0.5f, 1});
  AddKnown<float>(cases, "max", {1, -1, kNan, 1}, {2, -3, 1, kNan}, {2, -1, kNan, kNan});
  AddKnown<float>(cases, "min", {1, -1, kNan, 1}, {2, -3, 1, kNan}, {1, -3, kNan, kNan});
  AddKnown<uint8_t>(cases, "max", {200, 3}, {100, 4}, {200, 4});

  for (const char* op : {"add", "sub", "mul", "max", "min"}) {
    AddBinaryGradient(cases, op, {-2, 2}, {-1.9, 2.1});
  }
  AddBinaryGradient(cases, "div", {-2, 2}, {0.5, 2});
  AddBinaryGradient(cases, "rem", {2, 2.9}, {1.5, 1.8});
  AddBinaryGradient(cases, "pow", {0.3, 2}, {-2, 2});
  cases.push_back({.name = "mul/gradient_same_operand_shape_one",
                   .op = "mul",
                   .operands = {Uniform(DType::kF32, {}), Uniform(DType::kF32, {})},
                   .check_gradient = true});
}

}  // namespace trencadis::ops
