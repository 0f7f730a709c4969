// Embedding: rows of a table, looked up by id.
#ifndef TRENCADIS_MODELS_NN_EMBEDDING_H_
#define TRENCADIS_MODELS_NN_EMBEDDING_H_

#include <cstdint>

#include "models/nn/forward_mode.h"
#include "models/nn/module.h"

namespace trencadis::nn {

class Embedding : public Module {
 public:
  // A table [rows, width].
  Embedding(int64_t rows, int64_t width, double initializer_std);

  // ids i32 [...]: [..., width] in mode.compute.
  lazy::Tensor Forward(const lazy::Tensor& ids, const ForwardMode& mode) const;

  Parameter& weight() { return weight_; }

 private:
  Parameter weight_;
};

}  // namespace trencadis::nn

#endif  // TRENCADIS_MODELS_NN_EMBEDDING_H_
