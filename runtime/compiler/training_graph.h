// One training step of a Llama-like model as a graph, for tests and measurements of the compiler:
// forward, backward by the ops' own vjp rules, and AdamW.
#ifndef TRENCADIS_RUNTIME_COMPILER_TRAINING_GRAPH_H_
#define TRENCADIS_RUNTIME_COMPILER_TRAINING_GRAPH_H_

#include <cstdint>
#include <vector>

#include "runtime/compiler/compiler.h"
#include "runtime/ir/graph.h"

namespace trencadis::compiler {

struct TrainingGraphOptions {
  int64_t layers = 2;
  int64_t batch = 2;
  int64_t time = 16;
  int64_t width = 32;
  int64_t mlp_width = 64;
  int64_t heads = 4;
  int64_t kv_heads = 2;
  int64_t head_width = 8;
  int64_t vocabulary = 64;
  DType compute = DType::kF32;  // parameters are f32
};

struct TrainingGraph {
  ir::Graph graph;
  std::vector<ArgumentInfo> arguments;  // parameters and moments are donated
  int64_t parameter_bytes = 0;
};

// Inputs: ids i32 [N], labels i32 [N], rotary cosines and sines f32 [N, head_width], the learning
// rate; then all parameters, then all first and all second moments. Outputs: the loss, then
// parameters and moments updated. N = batch * time.
TrainingGraph MakeTrainingGraph(const TrainingGraphOptions& options);

}  // namespace trencadis::compiler

#endif  // TRENCADIS_RUNTIME_COMPILER_TRAINING_GRAPH_H_
