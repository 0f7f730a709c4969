// Rotary position embedding (Su et al., "RoFormer", 2021), in the half-split form of Llama.
#ifndef TRENCADIS_MODELS_NN_ROTARY_H_
#define TRENCADIS_MODELS_NN_ROTARY_H_

#include <cstdint>
#include <vector>

#include "runtime/lazy/context.h"
#include "runtime/lazy/tensor.h"

namespace trencadis::nn {

// Cosines and sines for the positions of one forward pass, f32 [B or 1, T, 1, D].
struct RotaryAngles {
  lazy::Tensor cos;
  // The first half negated, so that rotating is x * cos + swap_halves(x) * sin.
  lazy::Tensor signed_sin;
};

// Tables for positions 0 .. length-1 of heads D wide.
class RotaryTable {
 public:
  // `inverse_frequencies`: D/2 values, theta^(-2i/D) unless scaled. Computed as f32, as
  // transformers does.
  RotaryTable(lazy::Context& context, const std::vector<float>& inverse_frequencies,
              int64_t length);

  int64_t length() const { return cos_.dim(0); }

  // Positions start .. start + count - 1 for every row.
  RotaryAngles Range(int64_t start, int64_t count) const;
  // positions i32 [B,T], each below length().
  RotaryAngles At(const lazy::Tensor& positions) const;

 private:
  lazy::Tensor cos_;         // [length, D]
  lazy::Tensor signed_sin_;  // [length, D]
};

// theta^(-2i/D) for i < D/2, in f32.
std::vector<float> InverseFrequencies(double theta, int64_t head_dim);

// x [B,T,H,D] rotated; computed in f32, rounded once to x's dtype.
lazy::Tensor ApplyRotary(const lazy::Tensor& x, const RotaryAngles& angles);

}  // namespace trencadis::nn

#endif  // TRENCADIS_MODELS_NN_ROTARY_H_
