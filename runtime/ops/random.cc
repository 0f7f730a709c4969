// Counter-based random numbers.
//
// Philox4x32-10: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011. The counter and the key are operands, so the same place in the same step draws the same
// number whatever the graph around it.
#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/ops/elementwise.h"
#include "runtime/ops/op_tables.h"
#include "runtime/ops/reference.h"

namespace trencadis::ops {
namespace {

using ir::Attributes;
using ir::BinaryFn;
using ir::Scalar;
using ir::ScalarBuilder;

constexpr int kRounds = 10;
constexpr uint32_t kMultiplier0 = 0xD2511F53;
constexpr uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9;
constexpr uint32_t kWeyl1 = 0xBB67AE85;

absl::StatusOr<ir::TypeList> InferPhilox(Operands operands, const Attributes&) {
  TRENCADIS_RETURN_IF_ERROR(RequireDType(operands, 0, DType::kI32));
  TRENCADIS_RETURN_IF_ERROR(RequireSameTypes(operands));
  return ir::TypeList{{DType::kF32, operands[0].shape}};
}

Scalar Bits(ScalarBuilder& b, uint32_t bits) {
  return b.Constant(DType::kI32, static_cast<int32_t>(bits));
}

Scalar PhiloxScalar(ScalarBuilder& b, absl::Span<const Scalar> x, const Attributes&) {
  Scalar c[4] = {x[0], x[1], x[2], x[3]};
  Scalar k[2] = {x[4], x[5]};
  for (int round = 0; round < kRounds; ++round) {
    const Scalar high0 = b.Binary(BinaryFn::kMulHigh, c[0], Bits(b, kMultiplier0));
    const Scalar low0 = b.Binary(BinaryFn::kMul, c[0], Bits(b, kMultiplier0));
    const Scalar high1 = b.Binary(BinaryFn::kMulHigh, c[2], Bits(b, kMultiplier1));
    const Scalar low1 = b.Binary(BinaryFn::kMul, c[2], Bits(b, kMultiplier1));
    c[0] = b.Binary(BinaryFn::kXor, b.Binary(BinaryFn::kXor, high1, c[1]), k[0]);
    c[1] = low1;
    c[2] = b.Binary(BinaryFn::kXor, b.Binary(BinaryFn::kXor, high0, c[3]), k[1]);
    c[3] = low0;
    k[0] = b.Binary(BinaryFn::kAdd, k[0], Bits(b, kWeyl0));
    k[1] = b.Binary(BinaryFn::kAdd, k[1], Bits(b, kWeyl1));
  }
  // The upper 24 bits are exact in f32.
  const Scalar upper = b.Binary(BinaryFn::kShiftRightLogical, c[0], Bits(b, 8));
  return ScalarMath(b).Mul(b.Convert(upper, DType::kF32), 0x1p-24);
}

// The paper's loop on unsigned words.
uint32_t PhiloxFirstWord(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, uint32_t k0,
                         uint32_t k1) {
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t product0 = uint64_t{kMultiplier0} * c0;
    const uint64_t product1 = uint64_t{kMultiplier1} * c2;
    c0 = static_cast<uint32_t>(product1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<uint32_t>(product1);
    c2 = static_cast<uint32_t>(product0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<uint32_t>(product0);
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  return c0;
}

absl::StatusOr<Literals> PhiloxReference(LiteralSpan x, const Attributes&,
                                         const ir::TypeList& results) {
  Literal y(results[0]);
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    const auto word = [&](int operand) {
      return static_cast<uint32_t>(x[operand].data<int32_t>()[i]);
    };
    const uint32_t bits = PhiloxFirstWord(word(0), word(1), word(2), word(3), word(4), word(5));
    y.data<float>()[i] = static_cast<float>(bits >> 8) * 0x1p-24f;
  }
  return Literals{std::move(y)};
}

constexpr ir::OpDef kOps[] = {
    {.name = "philox_uniform",
     .num_operands = 6,
     .infer = InferPhilox,
     .reference = PhiloxReference,
     .scalar = PhiloxScalar,
     .stops_gradient = true},
};

}  // namespace

OpTable RandomOps() { return kOps; }

}  // namespace trencadis::ops
