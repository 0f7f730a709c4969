#include "runtime/codegen/scalar_cost.h"

#include <vector>

namespace trencadis::codegen {
namespace {

using ir::BinaryFn;
using ir::CompareFn;
using ir::Scalar;
using ir::UnaryFn;

constexpr int64_t kSimple = 1;
constexpr int64_t kDivision = 4;
constexpr int64_t kElementary = 10;

class CountingBuilder : public ir::ScalarBuilder {
 public:
  Scalar Add(DType dtype, int64_t operations) {
    operations_ += operations;
    dtypes_.push_back(dtype == DType::kBF16 ? DType::kF32 : dtype);
    return {static_cast<int>(dtypes_.size()) - 1};
  }
  int64_t operations() const { return operations_; }

  DType TypeOf(Scalar value) const override { return dtypes_[value.id]; }
  Scalar Constant(DType dtype, double) override { return Add(dtype, 0); }
  Scalar Unary(UnaryFn fn, Scalar x) override {
    switch (fn) {
      case UnaryFn::kNeg:
      case UnaryFn::kAbs:
      case UnaryFn::kFloor:
      case UnaryFn::kCeil:
      case UnaryFn::kNot:
        return Add(TypeOf(x), kSimple);
      case UnaryFn::kSqrt:
        return Add(TypeOf(x), kDivision);
      default:
        return Add(TypeOf(x), kElementary);
    }
  }
  Scalar Binary(BinaryFn fn, Scalar x, Scalar) override {
    if (fn == BinaryFn::kPow) return Add(TypeOf(x), 2 * kElementary);
    const bool divides = fn == BinaryFn::kDiv || fn == BinaryFn::kRem;
    return Add(TypeOf(x), divides ? kDivision : kSimple);
  }
  Scalar Compare(CompareFn, Scalar, Scalar) override { return Add(DType::kBool, kSimple); }
  Scalar Select(Scalar, Scalar if_true, Scalar) override { return Add(TypeOf(if_true), kSimple); }
  Scalar Convert(Scalar, DType dtype) override { return Add(dtype, kSimple); }
  Scalar Fma(Scalar x, Scalar, Scalar) override { return Add(TypeOf(x), 2 * kSimple); }

 private:
  int64_t operations_ = 0;
  std::vector<DType> dtypes_;
};

}  // namespace

int64_t OperationsPerElement(const ir::Graph& graph, const ir::Node& node) {
  CountingBuilder builder;
  std::vector<Scalar> operands;
  for (ir::Value operand : node.operands) {
    operands.push_back(builder.Add(graph.type(operand).dtype, 0));
  }
  node.op->scalar(builder, operands, node.attributes);
  return builder.operations();
}

}  // namespace trencadis::codegen
