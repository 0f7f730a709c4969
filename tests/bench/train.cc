// Training steps of SmolLM2-135M's geometry against PyTorch: LoRA and full, f32 and bf16,
// activation checkpointing off and on, 4 x 512 tokens, every label counted.
//
//   bazel run //tests/bench:train -- --json [--filter lora_f32] [--rounds 1] [--no_peer]
//   [--profile]
//
// Each measurement is a process of its own; ours and the peer's take turns. One JSON line per case.
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler_cache/memory_provider.h"
#include "models/adapters/lora.h"
#include "models/zoo/load_model.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/base/trace.h"
#include "runtime/device/device.h"
#include "runtime/lazy/context.h"
#include "tests/bench/bench_support.h"
#include "training/data/dataset.h"
#include "training/train_step.h"

namespace trencadis::bench {
namespace {

constexpr int64_t kBatch = 4, kLength = 512;
constexpr int kWarmupSteps = 2, kSteps = 5;

struct Case {
  bool lora, bf16, checkpointing;

  std::string Name() const {
    return absl::StrCat(lora ? "lora" : "full", bf16 ? "_bf16" : "_f32",
                        checkpointing ? "_checkpointing" : "");
  }
  std::vector<std::string> PeerArguments() const {
    std::vector<std::string> arguments = {"llama", "--mode", lora ? "lora" : "full", "--dtype",
                                          bf16 ? "bf16" : "fp32"};
    if (checkpointing) arguments.push_back("--ckpt");
    return arguments;
  }
};

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (const bool lora : {true, false}) {
    for (const bool bf16 : {false, true}) {
      for (const bool checkpointing : {false, true}) cases.push_back({lora, bf16, checkpointing});
    }
  }
  return cases;
}

training::HostBatch RandomBatch() {
  std::vector<training::Example> examples(kBatch);
  std::vector<const training::Example*> rows;
  uint32_t state = 12345;
  for (training::Example& example : examples) {
    for (int64_t t = 0; t < kLength; ++t) {
      state = state * 1664525u + 1013904223u;
      example.ids.push_back(static_cast<int32_t>((state >> 8) % 49152));
    }
    example.labels = example.ids;
    rows.push_back(&example);
  }
  return training::Collate(rows, 0, {});
}

// Floating-point operations of one step's products, those of the fused loss apart: forward and
// activation gradients (2 passes), weight gradients when all weights are trained, the forward again
// with checkpointing.
double ProductFlops(const Case& c) {
  const checkpoint::ModelConfig config = SmolLm2Config();
  const int64_t attention = config.hidden_size * config.head_dim *
                            (2 * config.num_attention_heads + 2 * config.num_key_value_heads);
  const int64_t mlp = 3 * config.hidden_size * config.intermediate_size;
  const int passes = 2 + (c.lora ? 0 : 1) + (c.checkpointing ? 1 : 0);
  return 2.0 * kBatch * kLength * config.num_hidden_layers * (attention + mlp) * passes;
}

// Share of the steps' time in products, and how fast those are.
Json Profile(const std::vector<TraceEvent>& events, double steps_s, double product_flops) {
  double product_us = 0, total_us = 0;
  std::map<std::string, double> by_category;
  for (const TraceEvent& event : events) {
    by_category[event.category] += event.duration_us;
    total_us += event.duration_us;
    if (event.category == "matmul") product_us += event.duration_us;
  }
  return {{"product_share", product_us / total_us},
          {"product_gflops", product_flops / product_us / 1e3},
          {"kernel_s", total_us / 1e6},
          {"steps_s", steps_s},
          {"by_kind_us", by_category}};
}

absl::StatusOr<Json> Measure(const Case& c, bool profile) {
  compiler_cache::MemoryProvider recipes;
  TRENCADIS_ASSIGN_OR_RETURN(DeviceSpec spec, FindDeviceSpec("cpu"));
  Device device(std::move(spec), codegen::Target::Host());
  lazy::Context context(&device, &recipes);
  const DType compute = c.bf16 ? DType::kBF16 : DType::kF32;
  TRENCADIS_ASSIGN_OR_RETURN(const auto model, zoo::CreateCausalLm(SmolLm2Config()));
  const std::vector<nn::NamedParameter> base = model->Parameters();
  std::vector<nn::NamedParameter> trainable = base;
  std::vector<adapters::LoraSite> lora;
  if (c.lora) {
    TRENCADIS_ASSIGN_OR_RETURN(lora, adapters::AddLora(*model, {8, 16, 0, {"q_proj", "v_proj"}}));
    trainable = adapters::LoraParameters(lora);
    TRENCADIS_RETURN_IF_ERROR(zoo::InitializeParameters(context, trainable, 1, compute));
  }
  TRENCADIS_RETURN_IF_ERROR(zoo::InitializeParameters(context, base, 0, compute));
  training::TrainStep step(
      context, *model, trainable, {.weight_decay = 0.01},
      {.compute = compute, .gradient_checkpointing = c.checkpointing, .max_grad_norm = 0});
  const std::vector<training::HostBatch> batches = {RandomBatch()};
  std::vector<double> seconds;
  double first_step_s = 0, loss = 0, trace_s = 0;
  for (int i = 0; i < kWarmupSteps + kSteps; ++i) {
    if (i == kWarmupSteps) {
      device.ResetPeakMemory();
      if (profile) StartTrace();
    }
    const double start_s = MonotonicClock().NowSeconds();
    TRENCADIS_ASSIGN_OR_RETURN(training::TrainStepResult result, step.Run(batches, 5e-5));
    result.grad_norm = lazy::Tensor();
    TRENCADIS_RETURN_IF_ERROR(context.MarkStep());
    const double issued_s = MonotonicClock().NowSeconds();
    TRENCADIS_ASSIGN_OR_RETURN(const Literal value, result.loss.ToHost());
    loss = value.AsDouble(0);
    const double end_s = MonotonicClock().NowSeconds();
    if (i == 0) first_step_s = end_s - start_s;
    if (i < kWarmupSteps) continue;
    seconds.push_back(end_s - start_s);
    trace_s += (issued_s - start_s) / kSteps;
  }
  const MemoryStats memory = device.memory_stats();
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  Json json = {{"step_s", Median(seconds)},
               {"issue_s", trace_s},
               {"first_step_s", first_step_s},
               {"compile_s", recipes.stats().compile_seconds},
               {"recipes", recipes.stats().misses},
               {"loss", loss},
               {"peak_gib", PeakResidentGiB()},
               {"plan_peak_gib", static_cast<double>(memory.max_in_use_bytes) / kGiB},
               {"workspace_gib", static_cast<double>(memory.workspace_bytes) / kGiB},
               {"persistent_gib", static_cast<double>(memory.max_persistent_bytes) / kGiB}};
  if (profile) {
    double total_s = 0;
    for (double s : seconds) total_s += s;
    json["profile"] = Profile(StopTrace(), total_s, kSteps * ProductFlops(c));
  }
  return json;
}

absl::StatusOr<Json> Compare(const Case& c, const std::vector<std::string>& arguments,
                             const std::string& peers) {
  const std::string rounds_text = FlagValue(arguments, "--rounds");
  const int rounds = rounds_text.empty() ? 1 : std::stoi(rounds_text);
  std::vector<std::string> child = {"--child", c.Name()};
  if (HasFlag(arguments, "--profile")) child.push_back("--profile");
  std::vector<double> ours, theirs;
  Json own, peer;
  for (int round = 0; round < rounds; ++round) {
    TRENCADIS_ASSIGN_OR_RETURN(own, RunSelf(child));
    if (own.contains("error")) return absl::InternalError(own["error"].get<std::string>());
    ours.push_back(own["step_s"]);
    if (HasFlag(arguments, "--no_peer")) continue;
    TRENCADIS_ASSIGN_OR_RETURN(peer, RunPeer(peers, c.PeerArguments()));
    theirs.push_back(peer["median_s"]);
  }
  Json line = {{"case", absl::StrCat("train_", c.Name())}, {"ours_s", Median(ours)}};
  if (!theirs.empty()) {
    line["torch_s"] = Median(theirs);
    line["ratio_vs_torch"] = Median(theirs) / Median(ours);
    line["memory_ratio"] = own["peak_gib"].get<double>() / peer["peak_rss_gib"].get<double>();
    line["torch_peak_gib"] = peer["peak_rss_gib"];
    line["torch"] = peer["torch"];
  }
  own.erase("step_s");
  line.update(own);
  line["machine"] = MachineDescription();
  return line;
}

void PrintLine(const Json& line, bool json) {
  if (json) {
    std::cout << line.dump() << std::endl;
    return;
  }
  std::cout << absl::StrFormat("%-28s ours %.3f s", line["case"].get<std::string>(),
                               line["ours_s"].get<double>());
  if (line.contains("torch_s")) {
    std::cout << absl::StrFormat(
        "  torch %.3f s  ratio %.2f  memory %.2f", line["torch_s"].get<double>(),
        line["ratio_vs_torch"].get<double>(), line["memory_ratio"].get<double>());
  }
  std::cout << std::endl;
}

int Main(const std::vector<std::string>& arguments) {
  const std::string child = FlagValue(arguments, "--child");
  const std::string filter = FlagValue(arguments, "--filter");
  const bool json = HasFlag(arguments, "--json");
  if (child.empty())
    PrintLine({{"case", "machine"}, {"ours_s", 0.0}, {"peaks", MachinePeaks()}}, json);
  int failures = 0;
  for (const Case& c : AllCases()) {
    if (!child.empty() ? c.Name() != child : !absl::StrContains(c.Name(), filter)) continue;
    const absl::StatusOr<Json> line = child.empty()
                                          ? Compare(c, arguments, PeersDirectory(arguments))
                                          : Measure(c, HasFlag(arguments, "--profile"));
    if (!line.ok()) {
      ++failures;
      std::cerr << c.Name() << ": " << line.status() << std::endl;
      if (!child.empty())
        std::cout << Json{{"error", line.status().ToString()}}.dump() << std::endl;
    } else if (!child.empty()) {
      std::cout << line->dump() << std::endl;
    } else {
      PrintLine(*line, json);
    }
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace trencadis::bench

int main(int argc, char** argv) {
  return trencadis::bench::Main(std::vector<std::string>(argv + 1, argv + argc));
}
