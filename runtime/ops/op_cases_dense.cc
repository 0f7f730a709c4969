// Cases of matrix products, attention, and the language-model loss.
#include "absl/strings/str_cat.h"
#include "runtime/ops/op_case_tables.h"

namespace trencadis::ops {
namespace {

void AddMatmul(OpCases& cases, const std::string& name, Shape a, Shape b, bool transpose_a,
               bool transpose_b) {
  for (DType dtype : {DType::kF32, DType::kBF16}) {
    cases.push_back(
        {.name = absl::StrCat("matmul/", name, "_", DTypeName(dtype)),
         .op = "matmul",
         .attributes = {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}},
         .operands = {Uniform(dtype, a), Uniform(dtype, b)},
         // K up to 300 products of up to 4: a sum's error grows with sqrt(K).
         .tolerance = {.relative = 1e-5, .absolute = 2e-5},
         .check_gradient = dtype == DType::kF32 && a.num_elements() + b.num_elements() < 200});
  }
}

struct AttentionForm {
  const char* name;
  int64_t batch, queries, keys, heads, kv_heads, width;
  bool causal = false;
  int64_t window = 0;
  bool segments = false;
  int offset = -1;  // -1: no operand
};

// q, k, v and what the flags ask for.
std::vector<OperandSpec> AttentionOperands(const AttentionForm& form, DType dtype) {
  const Shape q = {form.batch, form.queries, form.heads, form.width};
  const Shape kv = {form.batch, form.keys, form.kv_heads, form.width};
  std::vector<OperandSpec> operands = {Uniform(dtype, q), Uniform(dtype, kv), Uniform(dtype, kv)};
  if (form.segments) {
    // Two documents and, at the end, padding: queries of segment -1 see only padding keys.
    const auto segments = [&](int64_t length) {
      std::vector<int32_t> ids;
      for (int64_t b = 0; b < form.batch; ++b) {
        for (int64_t i = 0; i < length; ++i) {
          ids.push_back(i < length / 2 ? 0 : i < length - 1 - b ? 1 : -1);
        }
      }
      return Given({form.batch, length}, ids);
    };
    operands.push_back(segments(form.queries));
    operands.push_back(segments(form.keys));
  }
  if (form.offset >= 0) operands.push_back(Given<int32_t>({}, {form.offset}));
  return operands;
}

ir::Attributes AttentionAttributes(const AttentionForm& form) {
  return {{"scale", 0.35},
          {"causal", form.causal},
          {"window", form.window},
          {"has_segments", form.segments},
          {"has_offset", form.offset >= 0}};
}

// Operands with an out and an lse that belong to q, k and v, so that the gradient means something.
OpCase AttentionGradCase(const AttentionForm& form, DType dtype) {
  const std::vector<OperandSpec> forward = AttentionOperands(form, dtype);
  OpCase op_case = {.name = absl::StrCat("attention_grad/", form.name, "_", DTypeName(dtype)),
                    .op = "attention_grad",
                    .attributes = AttentionAttributes(form)};
  const OpCase attention = {.name = "attention_grad/forward",
                            .op = "attention",
                            .attributes = op_case.attributes,
                            .operands = forward};
  std::vector<Literal> inputs = MakeOperands(attention);
  const auto results = RunReference(attention, inputs);
  TRENCADIS_CHECK(results.ok());
  op_case.operands = {Uniform(dtype, inputs[0].shape()),
                      Given(inputs[0]),
                      Given(inputs[1]),
                      Given(inputs[2]),
                      Given((*results)[0]),
                      Given((*results)[1])};
  for (size_t i = 3; i < inputs.size(); ++i) op_case.operands.push_back(Given(inputs[i]));
  // Sums over up to 70 queries or keys.
  op_case.tolerance = {.relative = 1e-4, .absolute = 2e-5};
  return op_case;
}

void AddLoss(OpCases& cases, const std::string& name, int64_t rows, int64_t width,
             int64_t vocabulary, ir::Attributes attributes, std::vector<int32_t> labels = {}) {
  OperandSpec label_spec = Uniform(DType::kI32, {rows}, 0, static_cast<double>(vocabulary - 1));
  if (!labels.empty()) label_spec = Given({rows}, labels);
  for (DType dtype : {DType::kF32, DType::kBF16}) {
    OpCase op_case = {.name = absl::StrCat("linear_cross_entropy/", name, "_", DTypeName(dtype)),
                      .op = "linear_cross_entropy",
                      .attributes = attributes,
                      .operands = {Uniform(dtype, {rows, width}),
                                   Uniform(dtype, {vocabulary, width}), label_spec},
                      .tolerance = {.relative = 1e-5, .absolute = 1e-5},
                      .check_gradient = dtype == DType::kF32 && rows * width > 0 && rows < 10};
    cases.push_back(op_case);
    op_case.op = "linear_cross_entropy_with_grad";
    for (bool needs_dw : {true, false}) {
      op_case.name = absl::StrCat("linear_cross_entropy_with_grad/", name, "_", DTypeName(dtype),
                                  needs_dw ? "_dw" : "");
      op_case.attributes.Set("needs_dw", needs_dw);
      // The vjp needs dw: both operands count as needing a gradient.
      op_case.check_gradient = op_case.check_gradient && needs_dw;
      cases.push_back(op_case);
    }
  }
}

}  // namespace

void AddMatmulCases(OpCases& cases) {
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) {
      const std::string suffix = absl::StrCat(ta ? "t" : "n", tb ? "t" : "n");
      const auto swapped = [](int64_t x, int64_t y, bool swap) {
        return swap ? Ints{y, x} : Ints{x, y};
      };
      const auto batched = [&](Ints batch, int64_t x, int64_t y, bool swap) {
        const Ints matrix = swapped(x, y, swap);
        batch.insert(batch.end(), matrix.begin(), matrix.end());
        return Shape(batch);
      };
      AddMatmul(cases, "small_" + suffix, batched({}, 3, 5, ta), batched({}, 5, 4, tb), ta, tb);
      AddMatmul(cases, "odd_" + suffix, batched({}, 17, 33, ta), batched({}, 33, 19, tb), ta, tb);
      AddMatmul(cases, "batch_" + suffix, batched({2, 3}, 4, 5, ta), batched({2, 3}, 5, 2, tb), ta,
                tb);
      AddMatmul(cases, "one_" + suffix, batched({}, 1, 1, ta), batched({}, 1, 1, tb), ta, tb);
      if (!ta) {
        AddMatmul(cases, "collapsed_" + suffix, batched({2, 3}, 4, 5, ta), batched({}, 5, 3, tb),
                  ta, tb);
      }
    }
  }
  AddMatmul(cases, "no_inner", {3, 0}, {0, 4}, false, false);
  AddMatmul(cases, "no_rows", {0, 3}, {3, 4}, false, false);
  AddMatmul(cases, "no_columns", {2, 3}, {3, 0}, false, false);
  AddMatmul(cases, "vector", {1, 300}, {300, 65}, false, false);
  AddMatmul(cases, "tall", {130, 7}, {7, 3}, false, false);
  cases.push_back(
      {.name = "matmul/known",
       .op = "matmul",
       .operands = {Given<float>({2, 2}, {1, 2, 3, 4}), Given<float>({2, 2}, {5, 6, 7, 8})},
       .expected = {Literal::FromVector<float>({2, 2}, {19, 22, 43, 50})}});
  cases.push_back(
      {.name = "matmul/known_transposed",
       .op = "matmul",
       .attributes = {{"transpose_a", true}, {"transpose_b", true}},
       .operands = {Given<float>({2, 2}, {1, 2, 3, 4}), Given<float>({2, 2}, {5, 6, 7, 8})},
       .expected = {Literal::FromVector<float>({2, 2}, {23, 31, 34, 46})}});
  cases.push_back({.name = "matmul/bf16_to_f32",
                   .op = "matmul",
                   .attributes = {{"dtype", DType::kF32}},
                   .operands = {Uniform(DType::kBF16, {5, 40}), Uniform(DType::kBF16, {40, 6})},
                   .tolerance = {.relative = 1e-5, .absolute = 2e-5}});
  cases.push_back({.name = "matmul/f32_to_bf16",
                   .op = "matmul",
                   .attributes = {{"dtype", DType::kBF16}},
                   .operands = {Uniform(DType::kF32, {5, 40}), Uniform(DType::kF32, {40, 6})},
                   .tolerance = {.relative = 1e-5, .absolute = 2e-5}});
  for (DType dtype : {DType::kF32, DType::kBF16}) {
    cases.push_back({.name = absl::StrCat("matmul/large_", DTypeName(dtype)),
                     .op = "matmul",
                     .operands = {Uniform(dtype, {1024, 1024}), Uniform(dtype, {1024, 1024})},
                     .tolerance = {.relative = 1e-4, .absolute = 1e-3},
                     .large = true});
  }
}

void AddAttentionCases(OpCases& cases) {
  const AttentionForm forms[] = {{"plain", 2, 5, 5, 2, 2, 4},
                                 {"causal", 2, 5, 5, 2, 2, 4, true},
                                 {"grouped", 1, 4, 4, 4, 2, 3, true},
                                 {"one_kv_head", 1, 3, 3, 3, 1, 8, true},
                                 {"cross", 2, 3, 7, 2, 1, 4},
                                 {"window", 1, 9, 9, 2, 1, 4, true, 3},
                                 {"window_both_sides", 1, 6, 6, 1, 1, 4, false, 2},
                                 {"segments", 2, 8, 8, 2, 1, 4, true, 0, true},
                                 {"segments_not_causal", 2, 8, 8, 2, 1, 4, false, 0, true},
                                 {"offset", 1, 2, 8, 2, 1, 4, true, 0, false, 5},
                                 {"decode", 2, 1, 9, 4, 2, 4, true, 0, false, 6},
                                 {"everything", 2, 8, 8, 2, 1, 4, true, 4, true, 1},
                                 {"sees_nothing", 1, 4, 0, 1, 1, 2},
                                 {"no_queries", 1, 0, 4, 1, 1, 2},
                                 {"no_batch", 0, 4, 4, 1, 1, 2},
                                 {"one", 1, 1, 1, 1, 1, 1},
                                 {"tiles", 1, 70, 70, 2, 1, 33, true},
                                 {"long_segments", 1, 67, 67, 1, 1, 16, true, 0, true}};
  for (const AttentionForm& form : forms) {
    for (DType dtype : {DType::kF32, DType::kBF16}) {
      cases.push_back({.name = absl::StrCat("attention/", form.name, "_", DTypeName(dtype)),
                       .op = "attention",
                       .attributes = AttentionAttributes(form),
                       .operands = AttentionOperands(form, dtype),
                       .tolerance = {.relative = 1e-5, .absolute = 1e-5},
                       .check_gradient = dtype == DType::kF32 && form.queries < 10});
      cases.push_back(AttentionGradCase(form, dtype));
    }
  }
  // Two keys with equal scores: the mean of their values; lse = score + log 2.
  cases.push_back(
      {.name = "attention/known",
       .op = "attention",
       .attributes = {{"scale", 0.5}, {"causal", false}},
       .operands = {Given<float>({1, 1, 1, 2}, {2, 4}), Given<float>({1, 2, 1, 2}, {1, 1, 1, 1}),
                    Given<float>({1, 2, 1, 2}, {1, 2, 5, 4})},
       .expected = {Literal::FromVector<float>({1, 1, 1, 2}, {3, 3}),
                    Literal::FromVector<float>({1, 1, 1}, {3.69314718f})}});
  cases.push_back(
      {.name = "attention/large",
       .op = "attention",
       .attributes = {{"scale", 0.125}, {"causal", true}},
       .operands = {Uniform(DType::kF32, {4, 512, 9, 64}), Uniform(DType::kF32, {4, 512, 3, 64}),
                    Uniform(DType::kF32, {4, 512, 3, 64})},
       .tolerance = {.relative = 1e-4, .absolute = 1e-4},
       .large = true});
}

void AddLossCases(OpCases& cases) {
  AddLoss(cases, "small", 3, 4, 5, {});
  AddLoss(cases, "ignored", 4, 3, 5, {}, {2, -100, 0, -100});
  AddLoss(cases, "other_ignored", 3, 3, 5, {{"ignore_index", int64_t{0}}}, {2, 0, 4});
  AddLoss(cases, "all_ignored", 2, 3, 5, {}, {-100, -100});
  AddLoss(cases, "smoothed", 3, 4, 7, {{"label_smoothing", 0.1}}, {6, -100, 0});
  AddLoss(cases, "no_rows", 0, 4, 5, {});
  AddLoss(cases, "one_word", 2, 3, 1, {});
  AddLoss(cases, "odd", 37, 19, 131, {});
  // Logits 0 and 0: log 2, the first of equals is the label. Logits 1 and 3, label 1: log(1 +
  // e^-2).
  cases.push_back({.name = "linear_cross_entropy/known",
                   .op = "linear_cross_entropy",
                   .operands = {Given<float>({2, 1}, {0, 1}), Given<float>({2, 1}, {1, 3}),
                                Given<int32_t>({2}, {0, 1})},
                   .expected = {Literal::Scalar(0.82007519f),
                                Literal::FromVector<float>({2}, {0.69314718f, 3.12692801f}),
                                Literal::Scalar<int32_t>(2)}});
  // p = 1/2 each: dx = (p - 1) w0 + p w1 = -1/2 + 3/2; x = 0, so dw = 0.
  cases.push_back(
      {.name = "linear_cross_entropy_with_grad/known",
       .op = "linear_cross_entropy_with_grad",
       .attributes = {{"needs_dw", true}},
       .operands = {Given<float>({1, 1}, {0}), Given<float>({2, 1}, {1, 3}),
                    Given<int32_t>({1}, {0})},
       .expected = {Literal::Scalar(0.69314718f), Literal::FromVector<float>({1}, {0.69314718f}),
                    Literal::FromVector<float>({1, 1}, {1}),
                    Literal::FromVector<float>({2, 1}, {0, 0})}});
  cases.push_back(
      {.name = "linear_cross_entropy_with_grad/large",
       .op = "linear_cross_entropy_with_grad",
       .attributes = {{"needs_dw", true}},
       .operands = {Uniform(DType::kF32, {512, 576}), Uniform(DType::kF32, {8192, 576}, -0.1, 0.1),
                    Uniform(DType::kI32, {512}, 0, 8191)},
       .tolerance = {.relative = 1e-4, .absolute = 1e-3},
       .large = true});
}

}  // namespace trencadis::ops
