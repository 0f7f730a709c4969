// RMSNorm (Zhang and Sennrich, "Root mean square layer normalization", 2019), as Llama has it.
#ifndef TRENCADIS_MODELS_NN_RMS_NORM_H_
#define TRENCADIS_MODELS_NN_RMS_NORM_H_

#include <cstdint>

#include "models/nn/forward_mode.h"
#include "models/nn/module.h"

namespace trencadis::nn {

class RmsNorm : public Module {
 public:
  RmsNorm(int64_t width, double epsilon);

  // x [..., width]: x / sqrt(mean(x²) + epsilon) * weight. The quotient is f32 and is rounded to
  // mode.compute before the weight multiplies it (LlamaRMSNorm).
  lazy::Tensor Forward(const lazy::Tensor& x, const ForwardMode& mode) const;

 private:
  double epsilon_;
  Parameter weight_;
};

}  // namespace trencadis::nn

#endif  // TRENCADIS_MODELS_NN_RMS_NORM_H_
