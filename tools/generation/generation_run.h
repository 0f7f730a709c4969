// GenerationRun: what run_generation does: prompts in batches, each generated once or measured over
// several iterations, results as text, JSON lines and results.json.
#ifndef TRENCADIS_TOOLS_GENERATION_GENERATION_RUN_H_
#define TRENCADIS_TOOLS_GENERATION_GENERATION_RUN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "api/schema/tools.pb.h"
#include "models/generation/generator.h"
#include "models/tokenizers/tokenizer.h"
#include "models/zoo/causal_lm.h"
#include "training/jobs/session.h"

namespace trencadis::tools {

class GenerationRun {
 public:
  // Reads the model, the adapter and the tokenizer. `options` (defaults applied) and `session`
  // outlive the run.
  static absl::StatusOr<GenerationRun> Create(const schema::RunGeneration& options,
                                              training::Session& session);

  // Generates for every prompt and prints the results to standard output as the options say.
  // Cancelled when interrupted.
  absl::Status Run();

 private:
  struct Prompt {
    std::string text;
    std::vector<int32_t> ids;
  };
  // What is known of a prompt in the end.
  struct Continuation {
    const Prompt* prompt;
    std::string text;
    std::vector<int32_t> tokens;
  };
  // Of the measured iterations, or of the only one.
  struct Measurement {
    int64_t tokens = 0;
    int64_t decode_steps = 0;
    double prefill_seconds = 0;
    double decode_seconds = 0;
    double tokens_per_second() const;
    void Add(const generation::Generation& result);
  };

  GenerationRun(const schema::RunGeneration& options, training::Session& session);

  absl::Status LoadModel();
  absl::Status EncodePrompts();
  generation::GenerationOptions GeneratorOptions() const;
  bool measures() const;
  absl::Status RunBatch(absl::Span<const Prompt> prompts);
  absl::StatusOr<generation::Generation> Generate(absl::Span<const Prompt> prompts, bool stream);
  absl::Status Print(const Continuation& continuation, const Measurement& measurement,
                     bool was_streamed);
  std::string MetricsJson(const Measurement& measurement) const;
  void PrintThroughput() const;
  absl::Status WriteResults() const;

  const schema::RunGeneration& options_;
  training::Session& session_;
  std::unique_ptr<zoo::CausalLm> model_;
  std::unique_ptr<tokenizers::Tokenizer> tokenizer_;
  std::vector<Prompt> prompts_;
  std::vector<Continuation> continuations_;
  Measurement total_;
  double warmup_seconds_ = 0;
};

}  // namespace trencadis::tools

#endif  // TRENCADIS_TOOLS_GENERATION_GENERATION_RUN_H_
