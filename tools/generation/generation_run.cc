#include "tools/generation/generation_run.h"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_format.h"
#include "models/checkpoint/model_directory.h"
#include "models/tokenizers/load_tokenizer.h"
#include "models/zoo/load_model.h"
#include "runtime/base/atomic_file.h"
#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "runtime/base/metrics.h"
#include "runtime/base/status.h"
#include "training/results.h"

namespace trencadis::tools {
namespace {

using Json = nlohmann::ordered_json;

// Upstream's, where only the other is given.
constexpr int kWarmup = 3;
constexpr int kIterations = 5;

std::string Dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

double GenerationRun::Measurement::tokens_per_second() const {
  const double seconds = prefill_seconds + decode_seconds;
  return seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
}

void GenerationRun::Measurement::Add(const generation::Generation& result) {
  for (const std::vector<int32_t>& row : result.tokens) tokens += static_cast<int64_t>(row.size());
  decode_steps += result.decode_steps;
  prefill_seconds += result.prefill_seconds;
  decode_seconds += result.decode_seconds;
}

GenerationRun::GenerationRun(const schema::RunGeneration& options, training::Session& session)
    : options_(options), session_(session) {}

absl::StatusOr<GenerationRun> GenerationRun::Create(const schema::RunGeneration& options,
                                                    training::Session& session) {
  if (options.generation().prompt().empty()) {
    return absl::InvalidArgumentError("no prompt: give --prompt \"text to continue\"");
  }
  GenerationRun run(options, session);
  TRENCADIS_RETURN_IF_ERROR(run.LoadModel());
  TRENCADIS_RETURN_IF_ERROR(run.EncodePrompts());
  return run;
}

absl::Status GenerationRun::LoadModel() {
  const schema::ModelOptions& files = options_.model();
  TRENCADIS_ASSIGN_OR_RETURN(const checkpoint::ModelDirectory source,
                             checkpoint::OpenModel(files.model_name_or_path()));
  TRENCADIS_ASSIGN_OR_RETURN(
      tokenizer_, tokenizers::LoadTokenizer(files.has_tokenizer_name() ? files.tokenizer_name()
                                                                       : source.tokenizer_path));
  TRENCADIS_ASSIGN_OR_RETURN(model_, zoo::CreateCausalLm(source.config));
  const std::vector<nn::NamedParameter> parameters = model_->Parameters();
  for (const nn::NamedParameter& parameter : parameters) parameter.parameter->trainable = false;
  TRENCADIS_RETURN_IF_ERROR(
      zoo::LoadParameters(session_.context(), parameters, *source.tensors, session_.compute()));
  if (!options_.generation().has_peft_model()) return absl::OkStatus();
  return zoo::AttachAdapter(session_.context(), *model_, options_.generation().peft_model(),
                            session_.compute());
}

absl::Status GenerationRun::EncodePrompts() {
  const auto longest = static_cast<size_t>(std::max(0, options_.generation().max_input_tokens()));
  for (const std::string& text : options_.generation().prompt()) {
    absl::StatusOr<std::vector<int32_t>> ids = tokenizer_->Encode(text);
    if (!ids.ok()) return Annotate(ids.status(), "--prompt");
    if (longest > 0 && ids->size() > longest) ids->resize(longest);
    prompts_.push_back({text, *std::move(ids)});
  }
  return absl::OkStatus();
}

generation::GenerationOptions GenerationRun::GeneratorOptions() const {
  const schema::GenerationOptions& given = options_.generation();
  generation::GenerationOptions options;
  options.max_new_tokens = given.max_new_tokens();
  options.compute = session_.compute();
  options.seed = static_cast<uint64_t>(given.seed());
  options.bucket_size = given.bucket_size();
  options.prompt_length = std::max(0, given.max_input_tokens());
  if (given.do_sample()) {
    options.sampling = {given.temperature(), given.has_top_k() ? given.top_k() : 0, given.top_p()};
  }
  if (!given.ignore_eos()) options.eos_token_ids = model_->config().eos_token_ids;
  return options;
}

bool GenerationRun::measures() const {
  return options_.generation().has_warmup() || options_.generation().has_n_iterations();
}

absl::Status GenerationRun::Run() {
  const auto batch = static_cast<size_t>(options_.generation().batch_size());
  for (size_t at = 0; at < prompts_.size(); at += batch) {
    TRENCADIS_RETURN_IF_ERROR(RunBatch(absl::MakeConstSpan(prompts_).subspan(at, batch)));
  }
  if (measures() && !options_.device().json()) PrintThroughput();
  return WriteResults();
}

absl::Status GenerationRun::RunBatch(absl::Span<const Prompt> prompts) {
  const schema::GenerationOptions& given = options_.generation();
  const int warmup = given.has_warmup() ? given.warmup() : kWarmup;
  const int iterations = given.has_n_iterations() ? given.n_iterations() : kIterations;
  const bool streams = !measures() && given.stream() && !options_.device().json() &&
                       given.batch_size() == 1 && prompts.size() == 1;
  if (measures()) {
    const double start_s = MonotonicClock().NowSeconds();
    for (int i = 0; i < warmup; ++i) {
      TRENCADIS_RETURN_IF_ERROR(Generate(prompts, /*stream=*/false).status());
    }
    warmup_seconds_ += MonotonicClock().NowSeconds() - start_s;
  }
  Measurement measurement;
  generation::Generation result;
  for (int i = 0; i < (measures() ? iterations : 1); ++i) {
    TRENCADIS_ASSIGN_OR_RETURN(result, Generate(prompts, streams));
    measurement.Add(result);
    total_.Add(result);
  }
  for (size_t i = 0; i < prompts.size(); ++i) {
    std::vector<int32_t>& tokens = result.tokens[i];
    TRENCADIS_ASSIGN_OR_RETURN(std::string text,
                               tokenizer_->Decode(tokens, {.skip_special_tokens = true}));
    continuations_.push_back({&prompts[i], std::move(text), std::move(tokens)});
    TRENCADIS_RETURN_IF_ERROR(Print(continuations_.back(), measurement, streams));
  }
  return absl::OkStatus();
}

absl::StatusOr<generation::Generation> GenerationRun::Generate(absl::Span<const Prompt> prompts,
                                                               bool stream) {
  std::vector<std::vector<int32_t>> ids;
  for (int i = 0; i < options_.generation().batch_size() || ids.size() < prompts.size(); ++i) {
    ids.push_back(prompts[i % prompts.size()].ids);
  }
  tokenizers::StreamingDecoder decoder(*tokenizer_, {.skip_special_tokens = true});
  absl::Status decoding;
  bool begun = false;
  const auto on_token = [&](int64_t, int32_t token) {
    if (!std::exchange(begun, true)) std::cout << prompts[0].text;
    const absl::StatusOr<std::string> piece = decoder.Append(token);
    if (!piece.ok()) decoding.Update(piece.status());
    if (piece.ok()) std::cout << *piece << std::flush;
  };
  generation::Generator generator(session_.context(), *model_);
  absl::StatusOr<generation::Generation> result = generator.Generate(
      ids, GeneratorOptions(), stream ? generation::TokenCallback(on_token) : nullptr);
  if (begun) {
    const absl::StatusOr<std::string> rest = decoder.Finish();
    decoding.Update(rest.status());
    std::cout << (rest.ok() ? *rest : "") << std::endl;
  }
  if (result.ok() && !decoding.ok()) return decoding;
  return result;
}

absl::Status GenerationRun::Print(const Continuation& continuation, const Measurement& measurement,
                                  bool was_streamed) {
  if (!options_.device().json()) {
    if (!was_streamed) std::cout << continuation.prompt->text << continuation.text << std::endl;
    return absl::OkStatus();
  }
  const Json line = {{"prompt", continuation.prompt->text},
                     {"text", continuation.text},
                     {"tokens", continuation.tokens},
                     {"metrics", Json::parse(MetricsJson(measurement))}};
  std::cout << Dump(line, -1) << std::endl;
  return absl::OkStatus();
}

std::string GenerationRun::MetricsJson(const Measurement& measurement) const {
  Json metrics = Json::object();
  const MetricsSnapshot snapshot = MetricsRegistry::Global().Snapshot();
  for (const char* name : {"graph_compilation", "recipe_cache"}) {
    const auto it = snapshot.find(name);
    if (it != snapshot.end()) metrics[name] = it->second;
  }
  Json& memory = metrics["memory"];
  for (const auto& [key, value] : session_.device().memory_stats().HpuKeys()) memory[key] = value;
  metrics["prefill_seconds"] = measurement.prefill_seconds;
  metrics["decode_seconds"] = measurement.decode_seconds;
  metrics["decode_steps"] = measurement.decode_steps;
  metrics["tokens_per_second"] = measurement.tokens_per_second();
  return metrics.dump();
}

// The block that upstream's script prints.
void GenerationRun::PrintThroughput() const {
  const training::Metrics memory = training::MemoryMetrics(session_.device().memory_stats());
  const std::string rule(65, '-');
  std::cout << absl::StrFormat(
      "\nStats:\n%s\n"
      "Throughput (without tokenization) = %.2f tokens/second\n"
      "Memory allocated                  = %.2f GB\n"
      "Max memory allocated              = %.2f GB\n"
      "Total memory available            = %.2f GB\n"
      "Graph compilation duration        = %.2f seconds\n%s\n",
      rule, total_.tokens_per_second(), memory.Get("memory_allocated (GB)"),
      memory.Get("max_memory_allocated (GB)"), memory.Get("total_memory_available (GB)"),
      warmup_seconds_, rule);
}

// Upstream's results.json.
absl::Status GenerationRun::WriteResults() const {
  if (!options_.generation().has_output_dir()) return absl::OkStatus();
  const std::string& directory = options_.generation().output_dir();
  TRENCADIS_RETURN_IF_ERROR(RealFileSystem().CreateDirectories(directory));
  Json inputs = Json::array(), outputs = Json::array();
  for (const Continuation& continuation : continuations_) {
    inputs.push_back(continuation.prompt->text);
    outputs.push_back(continuation.prompt->text + continuation.text);
  }
  const Json results = {
      {"throughput", total_.tokens_per_second()}, {"input", inputs}, {"output", outputs}};
  return WriteFileAtomically(JoinPath(directory, "results.json"), Dump(results, 4));
}

}  // namespace trencadis::tools
