#include "tools/step_graph/step_trace.h"

#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "compiler_cache/memory_provider.h"
#include "models/adapters/lora.h"
#include "models/checkpoint/model_directory.h"
#include "models/generation/generator.h"
#include "models/zoo/load_model.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"
#include "runtime/compiler/optimise.h"
#include "runtime/compiler/passes/legalise.h"
#include "runtime/device/device.h"
#include "runtime/lazy/context.h"
#include "training/data/dataset.h"
#include "training/train_step.h"

namespace trencadis::tools {
namespace {

// Remembers what it is asked for.
class RecordingProvider : public lazy::RecipeProvider {
 public:
  struct Request {
    ir::Graph graph;
    compiler::CompileOptions options;
    std::shared_ptr<const Executable> executable;
  };

  absl::StatusOr<std::shared_ptr<const Executable>> GetOrCompile(
      const lazy::RecipeRequest& request) override {
    TRENCADIS_ASSIGN_OR_RETURN(std::shared_ptr<const Executable> executable,
                               recipes_.GetOrCompile(request));
    requests.push_back({request.graph, request.options, executable});
    return executable;
  }

  std::vector<Request> requests;

 private:
  compiler_cache::MemoryProvider recipes_;
};

class Tracer {
 public:
  explicit Tracer(const schema::GraphOptions& options)
      : options_(options),
        compute_(options.bf16() ? DType::kBF16 : DType::kF32),
        device_({"metering", std::numeric_limits<int64_t>::max()}, codegen::Target::Host(),
                {.metering = true}),
        context_(&device_, &recipes_,
                 {.disabled_passes = {options.disable_passes().begin(),
                                      options.disable_passes().end()}}) {}

  absl::StatusOr<StepTrace> Run() {
    TRENCADIS_RETURN_IF_ERROR(MakeModel());
    if (options_.step() == "train") TRENCADIS_RETURN_IF_ERROR(Train());
    if (options_.step() == "evaluate") TRENCADIS_RETURN_IF_ERROR(Evaluate());
    if (options_.step() == "decode") TRENCADIS_RETURN_IF_ERROR(Decode());
    StepTrace trace;
    for (RecordingProvider::Request& request : recipes_.requests) {
      TRENCADIS_ASSIGN_OR_RETURN(trace.launches.emplace_back(), Compiled(std::move(request)));
    }
    trace.memory = device_.memory_stats();
    return trace;
  }

 private:
  absl::StatusOr<checkpoint::ModelConfig> ReadConfig() const {
    if (options_.has_model_name_or_path()) {
      TRENCADIS_ASSIGN_OR_RETURN(checkpoint::ModelDirectory model,
                                 checkpoint::OpenModel(options_.model_name_or_path()));
      return std::move(model.config);
    }
    const std::string& path = options_.config_name();
    return checkpoint::ReadModelConfig(
        RealFileSystem().IsDirectory(path) ? JoinPath(path, "config.json") : path);
  }

  absl::Status MakeModel() {
    TRENCADIS_ASSIGN_OR_RETURN(const checkpoint::ModelConfig config, ReadConfig());
    TRENCADIS_ASSIGN_OR_RETURN(model_, zoo::CreateCausalLm(config));
    trainable_ = model_->Parameters();
    if (options_.lora() || options_.step() != "train") {
      for (const auto& named : trainable_) named.parameter->trainable = false;
    }
    std::vector<nn::NamedParameter> all = trainable_;
    if (options_.lora()) {
      adapters::LoraOptions lora{.rank = options_.lora_rank()};
      lora.target_modules = {"q_proj", "v_proj"};
      TRENCADIS_ASSIGN_OR_RETURN(const auto sites, adapters::AddLora(*model_, lora));
      trainable_ = adapters::LoraParameters(sites);
      all.insert(all.end(), trainable_.begin(), trainable_.end());
    }
    for (const auto& [name, parameter] : all) {
      const DType dtype = parameter->trainable ? DType::kF32 : compute_;
      parameter->value = lazy::Tensor::Uninitialised(context_, {dtype, parameter->shape});
      TRENCADIS_RETURN_IF_ERROR(context_.status());
      if (!parameter->trainable) parameter->value.Freeze();
    }
    return absl::OkStatus();
  }

  training::HostBatch Batch() const {
    const std::vector<int32_t> ids(options_.max_seq_length(), 0);
    const training::Example row{.ids = ids, .labels = ids};
    const std::vector<const training::Example*> rows(options_.batch_size(), &row);
    return training::Collate(rows, 0, {});
  }

  absl::Status Train() {
    training::TrainStepOptions options;
    options.compute = compute_;
    options.gradient_checkpointing = options_.gradient_checkpointing();
    training::TrainStep step(context_, *model_, trainable_, {}, options);
    const training::HostBatch batch = Batch();
    for (int i = 0; i < 2; ++i) {
      recipes_.requests.clear();
      const auto result = step.Run({&batch, 1}, /*learning_rate=*/1e-4);
      TRENCADIS_RETURN_IF_ERROR(result.status());
      TRENCADIS_RETURN_IF_ERROR(context_.MarkStep());
    }
    return absl::OkStatus();
  }

  absl::Status Evaluate() {
    for (int i = 0; i < 2; ++i) {
      recipes_.requests.clear();
      const auto score = training::EvaluateBatch(context_, *model_, Batch(), compute_);
      TRENCADIS_RETURN_IF_ERROR(score.status());
    }
    return absl::OkStatus();
  }

  absl::Status Decode() {
    generation::GenerationOptions options;
    options.max_new_tokens = 3;
    options.compute = compute_;
    options.bucket_size = options_.max_seq_length();
    options.prompt_length = 1;
    generation::Generator generator(context_, *model_);
    const std::vector<std::vector<int32_t>> prompts(options_.batch_size(), {0});
    TRENCADIS_RETURN_IF_ERROR(generator.Generate(prompts, options).status());
    recipes_.requests.erase(recipes_.requests.begin(), recipes_.requests.end() - 1);
    return absl::OkStatus();
  }

  // What compiler::Compile does to the graph before it makes steps of it, once more.
  static absl::StatusOr<TracedGraph> Compiled(RecordingProvider::Request request) {
    TracedGraph traced{request.graph, std::move(request.graph), {}, request.executable->recipe()};
    compiler::PassPipeline pipeline =
        compiler::OptimisationPipeline("graph", request.options.disabled_passes);
    TRENCADIS_RETURN_IF_ERROR(compiler::Legalise(traced.optimised).status());
    TRENCADIS_RETURN_IF_ERROR(pipeline.Run(traced.optimised));
    traced.passes = pipeline.reports();
    return traced;
  }

  const schema::GraphOptions& options_;
  const DType compute_;
  RecordingProvider recipes_;
  Device device_;
  lazy::Context context_;
  std::unique_ptr<zoo::CausalLm> model_;
  std::vector<nn::NamedParameter> trainable_;
};

}  // namespace

absl::StatusOr<StepTrace> TraceStep(const schema::GraphOptions& options) {
  return Tracer(options).Run();
}

}  // namespace trencadis::tools
