// Cases of views, reductions and indexing.
#include <limits>

#include "absl/strings/str_cat.h"
#include "runtime/ops/op_case_tables.h"

namespace trencadis::ops {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// 0, 1, 2, ... as f32.
OperandSpec Counting(Shape shape) {
  std::vector<float> values(shape.num_elements());
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return Given(std::move(shape), values);
}

// A case per dtype of one op on one shape, with a gradient check in f32.
void AddMoves(OpCases& cases, const std::string& op, const std::string& what, Shape shape,
              const ir::Attributes& attributes) {
  for (DType dtype : {DType::kF32, DType::kBF16, DType::kI64, DType::kBool}) {
    cases.push_back({.name = absl::StrCat(op, "/", what, "_", DTypeName(dtype)),
                     .op = op,
                     .attributes = attributes,
                     .operands = {Uniform(dtype, shape, 0, dtype == DType::kBool ? 1 : 9)},
                     .check_gradient = dtype == DType::kF32});
  }
}

void AddKnownMove(OpCases& cases, const std::string& op, Shape shape, ir::Attributes attributes,
                  Shape result, const std::vector<float>& expected) {
  cases.push_back({.name = op + "/known",
                   .op = op,
                   .attributes = std::move(attributes),
                   .operands = {Counting(std::move(shape))},
                   .expected = {Literal::FromVector(std::move(result), expected)},
                   .check_gradient = true});
}

ir::Attributes SliceOf(Ints starts, Ints limits, Ints strides) {
  return {{"starts", std::move(starts)},
          {"limits", std::move(limits)},
          {"strides", std::move(strides)}};
}

void AddReductions(OpCases& cases, const std::string& op) {
  struct Form {
    const char* name;
    Shape shape;
    Ints axes;
  };
  const Form forms[] = {{"rows", {5, 33}, {1}},        {"columns", {33, 5}, {0}},
                        {"middle", {3, 7, 5}, {1}},    {"outer", {3, 2, 5}, {0, 2}},
                        {"all", {2, 3, 4}, {0, 1, 2}}, {"none", {2, 3}, {}},
                        {"empty", {3, 0}, {1}},        {"no_rows", {0, 3}, {1}},
                        {"one", {4, 1}, {1}},          {"long_rows", {3, 4099}, {1}},
                        {"many_rows", {517, 3}, {1}},  {"leading", {3, 2, 35}, {0, 1}}};
  for (const Form& form : forms) {
    for (bool keep_dims : {false, true}) {
      for (DType dtype : {DType::kF32, DType::kBF16, DType::kI32}) {
        cases.push_back(
            {.name = absl::StrCat(op, "/", form.name, keep_dims ? "_kept_" : "_", DTypeName(dtype)),
             .op = op,
             .attributes = {{"axes", form.axes}, {"keep_dims", keep_dims}},
             .operands = {Uniform(dtype, form.shape, -9, 9)},
             // A sum of n values of up to 9 in f32, whatever the order.
             .tolerance = {.relative = 2e-6, .absolute = 1e-4}});
      }
    }
  }
  for (bool keep_dims : {false, true}) {
    cases.push_back({.name = absl::StrCat(op, "/gradient", keep_dims ? "_kept" : ""),
                     .op = op,
                     .attributes = {{"axes", Ints{0, 2}}, {"keep_dims", keep_dims}},
                     .operands = {Distinct(DType::kF32, {2, 3, 4})},
                     .check_gradient = true});
  }
  for (DType dtype : {DType::kI64, DType::kU8}) {
    cases.push_back({.name = absl::StrCat(op, "/", DTypeName(dtype)),
                     .op = op,
                     .attributes = {{"axes", Ints{1}}},
                     .operands = {Uniform(dtype, {3, 19}, 0, 255)}});
  }
  cases.push_back({.name = op + "/large",
                   .op = op,
                   .attributes = {{"axes", Ints{1}}},
                   .operands = {Uniform(DType::kF32, {1024, 1024})},
                   .tolerance = {.relative = 2e-6, .absolute = 1e-3},
                   .large = true});
}

void AddKnownReduction(OpCases& cases, const std::string& op, const std::vector<float>& expected,
                       float of_nothing) {
  cases.push_back({.name = op + "/known",
                   .op = op,
                   .attributes = {{"axes", Ints{1}}},
                   .operands = {Given<float>({3, 2}, {1, -2, 3, kNan, kInf, 4})},
                   .expected = {Literal::FromVector<float>({3}, expected)}});
  cases.push_back({.name = op + "/of_nothing",
                   .op = op,
                   .attributes = {{"axes", Ints{0}}},
                   .operands = {Uniform(DType::kF32, {0, 2})},
                   .expected = {Literal::FromVector<float>({2}, {of_nothing, of_nothing})}});
}

void AddTakeCases(OpCases& cases) {
  for (DType dtype : {DType::kF32, DType::kBF16, DType::kI32}) {
    for (DType ids : {DType::kI32, DType::kI64}) {
      const std::string name = absl::StrCat(DTypeName(dtype), "_", DTypeName(ids));
      cases.push_back({.name = "take/" + name,
                       .op = "take",
                       .operands = {Uniform(dtype, {7, 5}, 0, 9), Uniform(ids, {2, 3}, 0, 6)},
                       .check_gradient = dtype == DType::kF32});
      if (!IsFloat(dtype)) continue;
      cases.push_back({.name = "scatter_add/" + name,
                       .op = "scatter_add",
                       .attributes = {{"rows", int64_t{7}}},
                       .operands = {Uniform(ids, {2, 3}, 0, 6), Uniform(dtype, {2, 3, 5})},
                       .check_gradient = dtype == DType::kF32});
    }
  }
  cases.push_back({.name = "take/known",
                   .op = "take",
                   .operands = {Counting({3, 2}), Given<int32_t>({4}, {2, 0, 2, 1})},
                   .expected = {Literal::FromVector<float>({4, 2}, {4, 5, 0, 1, 4, 5, 2, 3})}});
  cases.push_back({.name = "take/no_ids",
                   .op = "take",
                   .operands = {Counting({3, 2}), Uniform(DType::kI32, {0}, 0, 0)}});
  cases.push_back({.name = "take/scalars",
                   .op = "take",
                   .operands = {Counting({5}), Given<int64_t>({}, {3})},
                   .expected = {Literal::Scalar(3.0f)}});
  cases.push_back({.name = "scatter_add/known",
                   .op = "scatter_add",
                   .attributes = {{"rows", int64_t{4}}},
                   .operands = {Given<int32_t>({3}, {2, 0, 2}), Counting({3, 2})},
                   .expected = {Literal::FromVector<float>({4, 2}, {2, 3, 0, 0, 4, 6, 0, 0})}});
  cases.push_back({.name = "scatter_add/to_bf16",
                   .op = "scatter_add",
                   .attributes = {{"rows", int64_t{3}}, {"dtype", DType::kBF16}},
                   .operands = {Uniform(DType::kI32, {40}, 0, 2), Uniform(DType::kBF16, {40, 3})}});
  cases.push_back({.name = "scatter_add/nothing",
                   .op = "scatter_add",
                   .attributes = {{"rows", int64_t{3}}},
                   .operands = {Uniform(DType::kI32, {0}, 0, 0), Uniform(DType::kF32, {0, 2})},
                   .expected = {Literal::FromVector<float>({3, 2}, {0, 0, 0, 0, 0, 0})}});
  cases.push_back(
      {.name = "take/large",
       .op = "take",
       .operands = {Uniform(DType::kF32, {32000, 512}), Uniform(DType::kI32, {4, 512}, 0, 31999)},
       .large = true});
}

void AddArgmaxCases(OpCases& cases) {
  for (DType dtype : {DType::kF32, DType::kBF16, DType::kI32, DType::kI64, DType::kU8}) {
    for (int64_t axis : {0, 1, 2}) {
      cases.push_back({.name = absl::StrCat("argmax/", DTypeName(dtype), "_", axis),
                       .op = "argmax",
                       .attributes = {{"axis", axis}},
                       .operands = {Uniform(dtype, {3, 19, 5}, 0, 9)}});
    }
  }
  cases.push_back(
      {.name = "argmax/known",
       .op = "argmax",
       .attributes = {{"axis", int64_t{1}}},
       .operands = {Given<float>({4, 3}, {1, 3, 3, 7, 7, 7, 1, kNan, kNan, -kInf, -kInf, -kInf})},
       .expected = {Literal::FromVector<int32_t>({4}, {1, 0, 1, 0})}});
  cases.push_back({.name = "argmax/large",
                   .op = "argmax",
                   .attributes = {{"axis", int64_t{1}}},
                   .operands = {Uniform(DType::kF32, {32, 32000})},
                   .large = true});
}

void AddDynamicSliceCases(OpCases& cases) {
  for (DType dtype : {DType::kF32, DType::kBF16, DType::kI32}) {
    for (int64_t axis : {0, 1, 2}) {
      const Shape shape = {5, 4, 7};
      Ints small = shape.dims();
      small[axis] = 2;
      const OperandSpec start = Given<int32_t>({}, {static_cast<int32_t>(axis == 0 ? 3 : 1)});
      const std::string suffix = absl::StrCat("/", DTypeName(dtype), "_", axis);
      cases.push_back({.name = "dynamic_slice" + suffix,
                       .op = "dynamic_slice",
                       .attributes = {{"axis", axis}, {"size", int64_t{2}}},
                       .operands = {Uniform(dtype, shape, 0, 9), start},
                       .check_gradient = dtype == DType::kF32});
      cases.push_back(
          {.name = "dynamic_update_slice" + suffix,
           .op = "dynamic_update_slice",
           .attributes = {{"axis", axis}},
           .operands = {Uniform(dtype, shape, 0, 9), Uniform(dtype, Shape(small), 0, 9), start},
           .check_gradient = dtype == DType::kF32});
    }
  }
  cases.push_back({.name = "dynamic_slice/known",
                   .op = "dynamic_slice",
                   .attributes = {{"axis", int64_t{0}}, {"size", int64_t{2}}},
                   .operands = {Counting({4}), Given<int32_t>({}, {2})},
                   .expected = {Literal::FromVector<float>({2}, {2, 3})}});
  cases.push_back({.name = "dynamic_slice/nothing",
                   .op = "dynamic_slice",
                   .attributes = {{"axis", int64_t{0}}, {"size", int64_t{0}}},
                   .operands = {Counting({4}), Given<int32_t>({}, {4})}});
  cases.push_back({.name = "dynamic_update_slice/known",
                   .op = "dynamic_update_slice",
                   .attributes = {{"axis", int64_t{0}}},
                   .operands = {Counting({4}), Given<float>({2}, {8, 9}), Given<int32_t>({}, {1})},
                   .expected = {Literal::FromVector<float>({4}, {0, 8, 9, 3})}});
}

void AddConcatenateCases(OpCases& cases) {
  for (DType dtype : {DType::kF32, DType::kBF16, DType::kI64, DType::kBool}) {
    for (int64_t axis : {0, 1, 2}) {
      OpCase op_case = {.name = absl::StrCat("concatenate/", DTypeName(dtype), "_", axis),
                        .op = "concatenate",
                        .attributes = {{"axis", axis}}};
      for (int64_t size : {3, 1, 0, 5}) {
        Ints dims = {2, 3, 4};
        dims[axis] = size;
        op_case.operands.push_back(Uniform(dtype, Shape(dims), 0, dtype == DType::kBool ? 1 : 9));
      }
      op_case.check_gradient = dtype == DType::kF32;
      cases.push_back(std::move(op_case));
    }
  }
  cases.push_back({.name = "concatenate/known",
                   .op = "concatenate",
                   .attributes = {{"axis", int64_t{1}}},
                   .operands = {Counting({2, 1}), Counting({2, 2})},
                   .expected = {Literal::FromVector<float>({2, 3}, {0, 0, 1, 1, 2, 3})}});
  cases.push_back({.name = "concatenate/single",
                   .op = "concatenate",
                   .attributes = {{"axis", int64_t{0}}},
                   .operands = {Counting({2})},
                   .expected = {Literal::FromVector<float>({2}, {0, 1})}});
}

}  // namespace

void AddViewCases(OpCases& cases) {
  const auto broadcast = [](Ints shape, Ints axes) {
    return ir::Attributes{{"shape", std::move(shape)}, {"axes", std::move(axes)}};
  };
  AddMoves(cases, "broadcast", "scalar", {}, broadcast({3, 5}, {}));
  AddMoves(cases, "broadcast", "row", {5}, broadcast({3, 5}, {1}));
  AddMoves(cases, "broadcast", "column", {3}, broadcast({3, 5}, {0}));
  AddMoves(cases, "broadcast", "stretch", {1, 4, 1}, broadcast({3, 4, 2}, {0, 1, 2}));
  AddMoves(cases, "broadcast", "insert", {3, 1}, broadcast({2, 3, 4, 5}, {1, 3}));
  AddMoves(cases, "broadcast", "empty", {1}, broadcast({0, 3}, {0}));
  AddMoves(cases, "broadcast", "same", {2, 3}, broadcast({2, 3}, {0, 1}));
  AddKnownMove(cases, "broadcast", {2, 1}, broadcast({2, 2, 2}, {0, 2}), {2, 2, 2},
               {0, 0, 0, 0, 1, 1, 1, 1});

  const auto reshape = [](Ints shape) { return ir::Attributes{{"shape", std::move(shape)}}; };
  AddMoves(cases, "reshape", "split", {6, 5}, reshape({2, 3, 5}));
  AddMoves(cases, "reshape", "regroup", {4, 6}, reshape({3, 8}));
  AddMoves(cases, "reshape", "scalar", {1, 1}, reshape({}));
  AddMoves(cases, "reshape", "empty", {0, 5}, reshape({3, 0}));
  AddKnownMove(cases, "reshape", {2, 3}, reshape({3, 2}), {3, 2}, {0, 1, 2, 3, 4, 5});

  const auto transpose = [](Ints axes) { return ir::Attributes{{"permutation", std::move(axes)}}; };
  AddMoves(cases, "transpose", "matrix", {5, 33}, transpose({1, 0}));
  AddMoves(cases, "transpose", "heads", {2, 3, 4, 5}, transpose({0, 2, 1, 3}));
  AddMoves(cases, "transpose", "rotate", {2, 3, 4}, transpose({2, 0, 1}));
  AddMoves(cases, "transpose", "empty", {0, 3}, transpose({1, 0}));
  AddMoves(cases, "transpose", "scalar", {}, transpose({}));
  AddKnownMove(cases, "transpose", {2, 3}, transpose({1, 0}), {3, 2}, {0, 3, 1, 4, 2, 5});

  AddMoves(cases, "slice", "inner", {5, 7}, SliceOf({1, 2}, {4, 6}, {1, 1}));
  AddMoves(cases, "slice", "strided", {7, 9}, SliceOf({1, 0}, {7, 9}, {2, 3}));
  AddMoves(cases, "slice", "stride_past_end", {7}, SliceOf({2}, {6}, {3}));
  AddMoves(cases, "slice", "huge_stride", {5}, SliceOf({3}, {5}, {100}));
  AddMoves(cases, "slice", "nothing", {5, 7}, SliceOf({5, 0}, {5, 7}, {1, 1}));
  AddKnownMove(cases, "slice", {2, 5}, SliceOf({0, 1}, {2, 5}, {1, 2}), {2, 2}, {1, 3, 6, 8});

  const auto reverse = [](Ints axes) { return ir::Attributes{{"axes", std::move(axes)}}; };
  AddMoves(cases, "reverse", "rows", {3, 19}, reverse({0}));
  AddMoves(cases, "reverse", "both", {3, 19}, reverse({0, 1}));
  AddMoves(cases, "reverse", "none", {3}, reverse({}));
  AddKnownMove(cases, "reverse", {2, 3}, reverse({1}), {2, 3}, {2, 1, 0, 5, 4, 3});

  const auto pad = [](Ints low, Ints high) {
    return ir::Attributes{{"low", std::move(low)}, {"high", std::move(high)}, {"value", 1.0}};
  };
  AddMoves(cases, "pad", "around", {3, 5}, pad({1, 2}, {0, 3}));
  AddMoves(cases, "pad", "none", {3, 5}, pad({0, 0}, {0, 0}));
  AddMoves(cases, "pad", "empty", {0, 2}, pad({1, 0}, {1, 0}));
  AddKnownMove(cases, "pad", {2, 1}, pad({0, 1}, {1, 0}), {3, 2}, {1, 0, 1, 1, 1, 1});
}

void AddReductionCases(OpCases& cases) {
  for (const char* op : {"reduce_sum", "reduce_max", "reduce_min"}) AddReductions(cases, op);
  AddKnownReduction(cases, "reduce_sum", {-1, kNan, kInf}, 0);
  AddKnownReduction(cases, "reduce_max", {1, kNan, kInf}, -kInf);
  AddKnownReduction(cases, "reduce_min", {-2, kNan, 4}, kInf);
  cases.push_back({.name = "reduce_max/integers_of_nothing",
                   .op = "reduce_max",
                   .attributes = {{"axes", Ints{0}}},
                   .operands = {Uniform(DType::kI32, {0})},
                   .expected = {Literal::Scalar(std::numeric_limits<int32_t>::min())}});
  cases.push_back({.name = "reduce_sum/wraps",
                   .op = "reduce_sum",
                   .attributes = {{"axes", Ints{0}}},
                   .operands = {Given<uint8_t>({3}, {200, 50, 10})},
                   .expected = {Literal::Scalar(uint8_t{4})}});
}

void AddIndexingCases(OpCases& cases) {
  AddTakeCases(cases);
  AddArgmaxCases(cases);
  AddDynamicSliceCases(cases);
  AddConcatenateCases(cases);
}

}  // namespace trencadis::ops
