#include "runtime/compiler/training_graph.h"

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/ir/graph_builder.h"
#include "runtime/ops/registry.h"

namespace trencadis::compiler {
namespace {

// N tokens, D width, H heads, K key-value heads, W width of a head.
using ir::Val;
using ir::Value;
using Ints = std::vector<int64_t>;

// What one node's vjp rule sees during the backward pass.
class NodeGradient final : public ir::VjpContext {
 public:
  NodeGradient(ir::GraphBuilder& builder, const ir::Node& node, int32_t id,
               const std::map<std::pair<int32_t, int32_t>, Val>& cotangents)
      : builder_(builder), node_(node), id_(id), cotangents_(cotangents) {
    gradients.resize(node.operands.size());
  }

  ir::OpBuilder& builder() override { return builder_; }
  const ir::Attributes& attributes() const override { return node_.attributes; }
  int num_operands() const override { return static_cast<int>(node_.operands.size()); }
  Val operand(int index) override { return builder_.HandleOf(node_.operands[index]); }
  Val result(int index) override { return builder_.HandleOf({id_, index}); }
  Val cotangent(int index) override {
    const auto it = cotangents_.find({id_, index});
    return it == cotangents_.end() ? Val{} : it->second;
  }
  bool NeedsGradient(int index) const override {
    return IsFloat(builder_.TypeOf(builder_.HandleOf(node_.operands[index])).dtype);
  }
  void SetGradient(int index, Val gradient) override { gradients[index] = gradient; }

  std::vector<Val> gradients;

 private:
  ir::GraphBuilder& builder_;
  const ir::Node node_;
  int32_t id_;
  const std::map<std::pair<int32_t, int32_t>, Val>& cotangents_;
};

class StepBuilder {
 public:
  explicit StepBuilder(const TrainingGraphOptions& options)
      : o_(options), n_(options.batch * options.time), b_(step_.graph, ops::FindOp) {}

  TrainingGraph Run() {
    AddInputs();
    const Val loss = Forward();
    const int32_t end = step_.graph.num_nodes();
    const std::vector<Val> gradients = Backward(loss, end);
    std::vector<Val> outputs = {loss};
    Update(gradients, outputs);
    const absl::Status status = b_.Finish(outputs);
    if (!status.ok()) std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    TRENCADIS_CHECK(status.ok());
    return std::move(step_);
  }

 private:
  Val Op(absl::string_view name, std::vector<Val> operands, ir::Attributes attributes = {}) {
    return b_.Emit1(name, operands, std::move(attributes));
  }
  Val Input(TensorType type, bool donated) {
    step_.arguments.push_back({.donated = donated});
    return b_.Input(std::move(type));
  }
  Val Scalar(double value, DType dtype) {
    auto literal = std::make_shared<Literal>(TensorType{dtype, Shape{}});
    literal->SetDouble(0, value);
    return Op("constant", {}, {{"value", ir::LiteralPtr(std::move(literal))}});
  }
  Val Broadcast(Val x, const Shape& shape, Ints axes) {
    return Op("broadcast", {x}, {{"shape", shape.dims()}, {"axes", std::move(axes)}});
  }
  Val Times(Val x, double value) {
    const TensorType type = b_.TypeOf(x);
    return Op("mul", {x, Broadcast(Scalar(value, type.dtype), type.shape, {})});
  }
  Val Convert(Val x, DType dtype) {
    return b_.TypeOf(x).dtype == dtype ? x : Op("convert", {x}, {{"dtype", dtype}});
  }
  Val Reshape(Val x, Ints shape) { return Op("reshape", {x}, {{"shape", std::move(shape)}}); }

  void AddInputs() {
    ids_ = Input({DType::kI32, {n_}}, false);
    labels_ = Input({DType::kI32, {n_}}, false);
    cosines_ = Input({DType::kF32, {n_, o_.head_width}}, false);
    sines_ = Input({DType::kF32, {n_, o_.head_width}}, false);
    rate_ = Input({DType::kF32, {}}, false);
    const int64_t attention = o_.heads * o_.head_width;
    const int64_t kv = o_.kv_heads * o_.head_width;
    std::vector<Shape> shapes = {{o_.vocabulary, o_.width}, {o_.width}};
    for (int64_t layer = 0; layer < o_.layers; ++layer) {
      for (const Shape& shape :
           {Shape{o_.width}, Shape{attention, o_.width}, Shape{kv, o_.width}, Shape{kv, o_.width},
            Shape{o_.width, attention}, Shape{o_.width}, Shape{o_.mlp_width, o_.width},
            Shape{o_.mlp_width, o_.width}, Shape{o_.width, o_.mlp_width}}) {
        shapes.push_back(shape);
      }
    }
    for (std::vector<Val>* list : {&parameters_, &first_moments_, &second_moments_}) {
      for (const Shape& shape : shapes) list->push_back(Input({DType::kF32, shape}, true));
    }
    for (const Shape& shape : shapes) step_.parameter_bytes += 4 * shape.num_elements();
  }

  Val Weight(int64_t layer, int index) {
    return Convert(parameters_[2 + 9 * layer + index], o_.compute);
  }
  Val Linear(Val x, Val weight) { return Op("matmul", {x, weight}, {{"transpose_b", true}}); }

  // x / sqrt(mean(x^2) + eps) * gain, in f32 (Zhang and Sennrich 2019, equation 4).
  Val RmsNorm(Val x, Val gain) {
    const Val wide = Convert(x, DType::kF32);
    const Shape shape = b_.TypeOf(x).shape;
    const Val sum = Op("reduce_sum", {Op("mul", {wide, wide})}, {{"axes", Ints{1}}});
    const Val mean = Times(sum, 1.0 / static_cast<double>(shape.dim(1)));
    const Val eps = Broadcast(Scalar(1e-5, DType::kF32), {n_}, {});
    const Val scale = Op("rsqrt", {Op("add", {mean, eps})});
    const Val normal = Op("mul", {wide, Broadcast(scale, shape, {0})});
    return Convert(Op("mul", {normal, Broadcast(gain, shape, {1})}), o_.compute);
  }

  // Rotary position embedding in the rotate-half form (Su et al. 2021, section 3.4.2).
  Val Rotary(Val x, int64_t heads) {
    const int64_t half = o_.head_width / 2;
    const Shape shape{n_, heads, o_.head_width};
    const Val wide = Convert(Reshape(x, shape.dims()), DType::kF32);
    const Val halves = Reshape(wide, {n_, heads, 2, half});
    const Val swapped = Reshape(Op("reverse", {halves}, {{"axes", Ints{2}}}), shape.dims());
    const Val turned = Op("add", {Op("mul", {wide, Broadcast(cosines_, shape, {0, 2})}),
                                  Op("mul", {swapped, Broadcast(sines_, shape, {0, 2})})});
    return Convert(Reshape(turned, {o_.batch, o_.time, heads, o_.head_width}), o_.compute);
  }

  Val Layer(Val x, int64_t layer) {
    b_.SetLabel(absl::StrCat("layers.", layer, ".attention"));
    const Val n = RmsNorm(x, parameters_[2 + 9 * layer]);
    const Val q = Rotary(Linear(n, Weight(layer, 1)), o_.heads);
    const Val k = Rotary(Linear(n, Weight(layer, 2)), o_.kv_heads);
    const Val v =
        Reshape(Linear(n, Weight(layer, 3)), {o_.batch, o_.time, o_.kv_heads, o_.head_width});
    const double scale = 1.0 / std::sqrt(static_cast<double>(o_.head_width));
    const Val mixed = Op("attention", {q, k, v}, {{"scale", scale}, {"causal", true}});
    const Val flat = Reshape(mixed, {n_, o_.heads * o_.head_width});
    const Val h = Op("add", {x, Linear(flat, Weight(layer, 4))});
    b_.SetLabel(absl::StrCat("layers.", layer, ".mlp"));
    const Val m = RmsNorm(h, parameters_[2 + 9 * layer + 5]);
    const Val gate = Op("silu", {Linear(m, Weight(layer, 6))});
    const Val product = Op("mul", {gate, Linear(m, Weight(layer, 7))});
    return Op("add", {h, Linear(product, Weight(layer, 8))});
  }

  Val Forward() {
    b_.SetLabel("embedding");
    Val x = Convert(Op("take", {parameters_[0], ids_}), o_.compute);
    for (int64_t layer = 0; layer < o_.layers; ++layer) x = Layer(x, layer);
    b_.SetLabel("loss");
    const Val last = RmsNorm(x, parameters_[1]);
    const Val sum = Op("linear_cross_entropy_with_grad",
                       {last, Convert(parameters_[0], o_.compute), labels_}, {{"needs_dw", true}});
    return Times(sum, 1.0 / static_cast<double>(n_));
  }

  // dL/d(parameter), by reverse accumulation over the nodes before `end`.
  std::vector<Val> Backward(Val loss, int32_t end) {
    std::map<std::pair<int32_t, int32_t>, Val> cotangents;
    const Value top = b_.ValueOf(loss);
    cotangents[{top.node, top.output}] = Scalar(1.0, DType::kF32);
    for (int32_t id = end - 1; id >= step_.graph.num_inputs(); --id) {
      const ir::Node node = step_.graph.node(id);
      bool reached = false;
      for (size_t i = 0; i < node.results.size(); ++i) {
        reached |= cotangents.contains({id, static_cast<int32_t>(i)});
      }
      if (!reached || node.op->vjp == nullptr) continue;
      b_.SetLabel(absl::StrCat(node.label, ".backward"));
      NodeGradient context(b_, node, id, cotangents);
      TRENCADIS_CHECK(node.op->vjp(context).ok());
      for (size_t i = 0; i < node.operands.size(); ++i) {
        if (!context.gradients[i].valid()) continue;
        const std::pair<int32_t, int32_t> key = {node.operands[i].node, node.operands[i].output};
        const auto [it, is_new] = cotangents.try_emplace(key, context.gradients[i]);
        if (!is_new) it->second = Op("add", {it->second, context.gradients[i]});
      }
    }
    std::vector<Val> gradients;
    for (Val parameter : parameters_) {
      gradients.push_back(cotangents.at({b_.ValueOf(parameter).node, 0}));
    }
    return gradients;
  }

  // AdamW (Loshchilov and Hutter 2019, algorithm 2) without bias correction.
  void Update(const std::vector<Val>& gradients, std::vector<Val>& outputs) {
    std::vector<Val> new_first, new_second;
    b_.SetLabel("optimizer");
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const Val g = Convert(gradients[i], DType::kF32);
      const Shape shape = b_.TypeOf(g).shape;
      const Val m = Op("add", {Times(first_moments_[i], 0.9), Times(g, 0.1)});
      const Val v = Op("add", {Times(second_moments_[i], 0.999), Times(Op("mul", {g, g}), 0.001)});
      const Val eps = Broadcast(Scalar(1e-8, DType::kF32), shape, {});
      const Val step = Op("div", {m, Op("add", {Op("sqrt", {v}), eps})});
      const Val decayed = Op("add", {step, Times(parameters_[i], 0.01)});
      const Val change = Op("mul", {decayed, Broadcast(rate_, shape, {})});
      outputs.push_back(Op("sub", {parameters_[i], change}));
      new_first.push_back(m);
      new_second.push_back(v);
    }
    outputs.insert(outputs.end(), new_first.begin(), new_first.end());
    outputs.insert(outputs.end(), new_second.begin(), new_second.end());
  }

  const TrainingGraphOptions o_;
  const int64_t n_;
  TrainingGraph step_;
  ir::GraphBuilder b_;
  Val ids_, labels_, cosines_, sines_, rate_;
  std::vector<Val> parameters_, first_moments_, second_moments_;
};

}  // namespace

TrainingGraph MakeTrainingGraph(const TrainingGraphOptions& options) {
  return StepBuilder(options).Run();
}

}  // namespace trencadis::compiler
