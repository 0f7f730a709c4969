// OpDef: everything the system knows about one operation, in one place.
//
// The registry (runtime/ops/registry.h) owns all of them; a pointer to an OpDef is valid for the
// life of the process and identifies the op. Every classification (may it fuse? is it a view?)
// reads traits, never names.
#ifndef TRENCADIS_RUNTIME_IR_OP_DEF_H_
#define TRENCADIS_RUNTIME_IR_OP_DEF_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/core/literal.h"
#include "runtime/ir/attributes.h"
#include "runtime/ir/scalar_builder.h"

namespace trencadis::ir {

enum class OpClass {
  kInput,        // a graph's argument
  kGenerator,    // no operand; each element follows from its index: constant, iota
  kElementwise,  // element i of the result needs only element i of each operand (all one shape)
  kView,       // an affine re-indexing of operand 0: broadcast, transpose, slice, reverse, reshape
  kReduction,  // folds some axes of operand 0 with `reduce`
  kContraction,  // matrix product
  kIndexing,     // gather, scatter, dynamic slices, concatenate, pad, argmax
  kComposite,    // attention, linear + cross-entropy: an own kernel
  kBarrier,      // identity that keeps its operand's computation after its other operands
  kFusion,       // a body of fusible ops, compiled into one loop nest
};

struct OpTraits {
  OpClass op_class = OpClass::kElementwise;
  bool commutative = false;         // binary, f(a,b) == f(b,a) bit for bit
  bool cheap_to_recompute = false;  // costs no more than reading its result back from memory
  // Result 0 may take operand 0's storage although other elements are kept (dynamic_update_slice).
  bool updates_operand = false;
  BinaryFn reduce = BinaryFn::kAdd;  // of a kReduction
};

using TypeList = std::vector<TensorType>;

// The alternatives of Attribute, in its order.
enum class AttributeKind { kBool, kInt, kDouble, kString, kInts, kDType, kLiteral, kGraph };

struct AttributeDef {
  absl::string_view name;
  AttributeKind kind;
  bool required = true;
};

// Called with as many operands as `num_operands` says and attributes of the declared kinds. Errors
// say what, got, wanted; InferTypes puts the op's name before them.
using InferFn = absl::StatusOr<TypeList> (*)(absl::Span<const TensorType> operands,
                                             const Attributes& attributes);
using ReferenceFn = absl::StatusOr<std::vector<Literal>> (*)(absl::Span<const Literal> operands,
                                                             const Attributes& attributes,
                                                             const TypeList& results);
using ScalarFn = Scalar (*)(ScalarBuilder& builder, absl::Span<const Scalar> operands,
                            const Attributes& attributes);

class VjpContext;
using VjpFn = absl::Status (*)(VjpContext& context);

struct OpDef {
  absl::string_view name;
  int num_operands = 0;                       // -1: any number; Infer checks
  absl::Span<const AttributeDef> attributes;  // every attribute the op knows
  OpTraits traits;
  // Result types, or what is wrong with the operands or attributes.
  InferFn infer = nullptr;
  // Slow and obviously right, on host tensors; shares no code with the code generator.
  ReferenceFn reference = nullptr;
  // Of a kElementwise: the computation on one element. bf16 operands arrive widened to f32 and a
  // bf16 result is rounded once, after the whole scalar form.
  ScalarFn scalar = nullptr;
  // Null: not differentiable (integers, comparisons); a gradient that reaches it stops there only
  // if `stops_gradient`, otherwise it is an error naming the op.
  VjpFn vjp = nullptr;
  bool stops_gradient = false;
  // Bit i: the vjp rule reads the value of operand i (of result i), not only its type. Other values
  // need not live until the backward pass.
  uint32_t vjp_reads_operands = ~0u;
  uint32_t vjp_reads_results = ~0u;
};

constexpr int kMaxRank = 8;
constexpr int64_t kMaxElements = int64_t{1} << 48;

// Error if `type` has more than kMaxRank dimensions, a negative one, or more than kMaxElements
// elements: then no size computed from it overflows.
absl::Status CheckTensorType(const TensorType& type);

// The result types of `op` on `operands`: checks the number of operands, the presence and kind of
// attributes, what the op's own `infer` checks, and the size of the results.
absl::StatusOr<TypeList> InferTypes(const OpDef& op, absl::Span<const TensorType> operands,
                                    const Attributes& attributes);

// How a name in text or in a vjp rule becomes an op; null when there is none (ops::FindOp).
using OpLookup = const OpDef* (*)(absl::string_view name);

// A handle to a tensor inside whatever builds graphs (the tape's tensors, or an ir::Graph).
struct Val {
  int id = -1;
  bool valid() const { return id >= 0; }
};

// Builds operations without knowing where: vjp rules are written once against it.
// The first error sticks: later calls return invalid handles and the owner reports it.
class OpBuilder {
 public:
  virtual ~OpBuilder() = default;
  // All results of the op `name`.
  virtual std::vector<Val> Emit(absl::string_view name, absl::Span<const Val> operands,
                                Attributes attributes) = 0;
  virtual TensorType TypeOf(Val value) const = 0;

  Val Emit1(absl::string_view name, absl::Span<const Val> operands, Attributes attributes = {}) {
    const std::vector<Val> results = Emit(name, operands, std::move(attributes));
    return results.empty() ? Val{} : results[0];
  }
};

// What a vjp rule sees: y = op(x), and dL/dy for at least one result; it sets dL/dx for the
// operands that need one. Of operands and results that the op does not declare in vjp_reads_*, only
// the type may be asked.
class VjpContext {
 public:
  virtual ~VjpContext() = default;
  virtual OpBuilder& builder() = 0;
  virtual const Attributes& attributes() const = 0;
  virtual int num_operands() const = 0;
  virtual Val operand(int index) = 0;
  virtual Val result(int index) = 0;
  // dL/d(result index), of the result's type; invalid when nothing flows into that result.
  virtual Val cotangent(int index) = 0;
  virtual bool NeedsGradient(int operand) const = 0;
  // `gradient` must have the operand's type. An operand that gets none has gradient zero.
  virtual void SetGradient(int operand, Val gradient) = 0;
};

}  // namespace trencadis::ir

#endif  // TRENCADIS_RUNTIME_IR_OP_DEF_H_
