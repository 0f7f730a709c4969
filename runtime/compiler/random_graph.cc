#include "runtime/compiler/random_graph.h"

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/ir/graph_builder.h"
#include "runtime/ops/registry.h"

namespace trencadis::compiler {
namespace {

using ir::Val;
using Ints = std::vector<int64_t>;

class Generator {
 public:
  Generator(uint32_t seed, const RandomGraphOptions& options)
      : options_(options), random_(seed), builder_(graph_, ops::FindOp) {}

  ir::Graph Run() {
    for (int i = 0; i < 4; ++i) {
      const DType dtype = options_.with_bf16 && Pick(4) == 0 ? DType::kBF16 : DType::kF32;
      Keep(builder_.Input({dtype, Shapes()[Pick(3)]}));
    }
    for (int i = 0; i < options_.nodes; ++i) Keep(Next());
    std::vector<Val> outputs = {values_.back()};
    for (int i = 0; i < 3; ++i) outputs.push_back(Any());
    TRENCADIS_CHECK(builder_.Finish(outputs).ok());
    return std::move(graph_);
  }

 private:
  // R rows, C columns, and some that fit them.
  static std::vector<Shape> Shapes() { return {Shape{6, 20}, Shape{6}, Shape{20}, Shape{20, 6}}; }

  int Pick(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }
  Val Any() { return values_[Pick(static_cast<int>(values_.size()))]; }
  void Keep(Val value) { values_.push_back(value); }
  const Shape ShapeOf(Val value) const { return builder_.TypeOf(value).shape; }
  DType DTypeOf(Val value) const { return builder_.TypeOf(value).dtype; }
  Val Op(absl::string_view name, std::vector<Val> operands, ir::Attributes attributes = {}) {
    return builder_.Emit1(name, operands, std::move(attributes));
  }

  // A value of `like`'s type: one that there is, or one made from another.
  Val Partner(Val like) {
    for (int tries = 0; tries < 8; ++tries) {
      const Val value = Any();
      if (builder_.TypeOf(value) == builder_.TypeOf(like)) return value;
    }
    const Val other = Any();
    const TensorType type = builder_.TypeOf(like);
    Val value =
        DTypeOf(other) == type.dtype ? other : Op("convert", {other}, {{"dtype", type.dtype}});
    return Reshaped(value, type.shape);
  }

  // `value` as `shape`, by broadcast of a vector along one axis or of a mean of all.
  Val Reshaped(Val value, const Shape& shape) {
    if (ShapeOf(value) == shape) return value;
    const Shape from = ShapeOf(value);
    for (int64_t axis = 0; axis < shape.rank(); ++axis) {
      if (from.rank() == 1 && shape.rank() == 2 && from.dim(0) == shape.dim(axis)) {
        return Op("broadcast", {value}, {{"shape", shape.dims()}, {"axes", Ints{axis}}});
      }
    }
    Ints all;
    for (int64_t axis = 0; axis < from.rank(); ++axis) all.push_back(axis);
    const Val largest = Op("reduce_max", {value}, {{"axes", all}});
    return Op("broadcast", {largest}, {{"shape", shape.dims()}, {"axes", Ints{}}});
  }

  Val Next() {
    const Val x = Any();
    switch (Pick(options_.with_products ? 13 : 12)) {
      case 0:
      case 1:
        return Op("tanh", {Op(Pick(2) == 0 ? "add" : "mul", {x, Partner(x)})});
      case 2:
        return Op(Pick(2) == 0 ? "max" : "sub", {x, Partner(x)});
      case 3:
        return Unary(x);
      case 4:
        return Scaled(x);
      case 5:
        return View(x);
      case 6:
        return Op("tanh", {Reduction(x)});
      case 7: {
        const Val y = Partner(x);
        return Op("select", {Op("lt", {x, y}), Op("neg", {y}), Partner(x)});
      }
      case 8: {
        const DType to = DTypeOf(x) == DType::kF32 ? DType::kBF16 : DType::kF32;
        return options_.with_bf16 ? Op("convert", {x}, {{"dtype", to}}) : Op("abs", {x});
      }
      case 9:
        return Op("barrier", {x, Any()});
      case 10:
        return Indexed(x);
      case 11:
        return Update(x);
      default:
        return Product(x);
    }
  }

  Val Unary(Val x) {
    static constexpr absl::string_view kOps[] = {"neg", "abs", "sigmoid", "silu", "tanh", "relu"};
    return Op(kOps[Pick(6)], {x});
  }

  Val Scaled(Val x) {
    const TensorType type = builder_.TypeOf(x);
    auto literal = std::make_shared<Literal>(TensorType{type.dtype, Shape{}});
    constexpr double kFactors[] = {0.5, 1.0, -1.0, 0.0};
    literal->SetDouble(0, kFactors[Pick(4)]);
    const Val scalar = Op("constant", {}, {{"value", ir::LiteralPtr(std::move(literal))}});
    const Val factor = Op("broadcast", {scalar}, {{"shape", type.shape.dims()}, {"axes", Ints{}}});
    return Pick(2) == 0 ? Op("mul", {factor, x}) : Op("add", {x, factor});
  }

  Val View(Val x) {
    const Shape shape = ShapeOf(x);
    if (shape.rank() == 2 && Pick(2) == 0) {
      return Op("transpose", {x}, {{"permutation", Ints{1, 0}}});
    }
    if (shape.rank() > 0 && Pick(2) == 0) return Op("reverse", {x}, {{"axes", Ints{0}}});
    const Val flat = Op("reshape", {x}, {{"shape", Ints{shape.num_elements()}}});
    return Op("reshape", {flat}, {{"shape", shape.dims()}});
  }

  Val Reduction(Val x) {
    const int rank = ShapeOf(x).rank();
    if (rank == 0) return x;
    const absl::string_view name = Pick(2) == 0 ? "reduce_sum" : "reduce_max";
    return Op(name, {x}, {{"axes", Ints{Pick(rank)}}, {"keep_dims", false}});
  }

  // Rows of x (or elements), taken in another order, or x beside itself cut back to its shape.
  Val Indexed(Val x) {
    const TensorType type = builder_.TypeOf(x);
    if (type.shape.rank() == 0) return x;
    if (Pick(2) == 0) {
      const Val ids =
          Op("iota", {},
             {{"dtype", DType::kI32}, {"shape", Ints{type.shape.dim(0)}}, {"axis", int64_t{0}}});
      return Op("take", {x, Op("reverse", {ids}, {{"axes", Ints{0}}})});
    }
    const Val twice = Op("concatenate", {x, Partner(x)}, {{"axis", int64_t{0}}});
    Ints starts(type.shape.rank(), 0);
    Ints limits = type.shape.dims();
    starts[0] = 1;
    limits[0] += 1;
    return Op("slice", {twice},
              {{"starts", starts}, {"limits", limits}, {"strides", Ints(starts.size(), 1)}});
  }

  // x with its first row replaced by that of another value.
  Val Update(Val x) {
    const TensorType type = builder_.TypeOf(x);
    if (type.shape.rank() == 0) return x;
    auto zero = std::make_shared<const Literal>(TensorType{DType::kI32, Shape{}});
    const Val start = Op("constant", {}, {{"value", ir::LiteralPtr(std::move(zero))}});
    const Val row =
        Op("dynamic_slice", {Partner(x), start}, {{"axis", int64_t{0}}, {"size", int64_t{1}}});
    return Op("dynamic_update_slice", {x, row, start}, {{"axis", int64_t{0}}});
  }

  // x . y^T, or the product with some other matrix that fits, brought back to small numbers.
  Val Product(Val x) {
    if (ShapeOf(x).rank() != 2) return Op("neg", {x});
    const Val y = Partner(x);
    const Val product = Pick(2) == 0 ? Op("matmul", {x, y}, {{"transpose_b", true}})
                                     : Op("matmul", {x, y}, {{"transpose_a", true}});
    return Op("tanh", {product});
  }

  RandomGraphOptions options_;
  std::mt19937 random_;
  ir::Graph graph_;
  ir::GraphBuilder builder_;
  std::vector<Val> values_;
};

}  // namespace

ir::Graph RandomGraph(uint32_t seed, const RandomGraphOptions& options) {
  return Generator(seed, options).Run();
}

}  // namespace trencadis::compiler
