// Dropout with counter-based randomness: what is dropped follows from seed, step, sample, position
// and site alone, never from how the work is cut into recipes, micro batches or ranks.
#ifndef TRENCADIS_MODELS_NN_DROPOUT_H_
#define TRENCADIS_MODELS_NN_DROPOUT_H_

#include "runtime/lazy/tensor.h"

namespace trencadis::nn {

// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): the seed is
// the key; element within the sample, sample, site and step are the counter.
struct Randomness {
  lazy::Tensor seed_low;   // i32 scalar
  lazy::Tensor seed_high;  // i32 scalar
  lazy::Tensor step;       // i32 scalar: the optimizer step
  lazy::Tensor samples;    // i32 [B]: each row's number within the step's global batch
};

// x [B, ...] with each element kept with probability 1 - rate and scaled by 1/(1 - rate), or zero.
// `site` (i32 scalar) tells one dropout of the model from another.
lazy::Tensor Dropout(const lazy::Tensor& x, double rate, const Randomness& randomness,
                     const lazy::Tensor& site);

}  // namespace trencadis::nn

#endif  // TRENCADIS_MODELS_NN_DROPOUT_H_
