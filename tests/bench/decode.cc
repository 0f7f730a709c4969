// Decoding with SmolLM2-135M's geometry against PyTorch: 128 prompt and 128 new tokens, batch 1 and
// 8, f32 and bf16, greedy.
//
//   bazel run //tests/bench:decode -- --json [--filter bf16] [--rounds 1] [--no_peer]
//
// Each measurement is a process of its own; ours and the peer's take turns. One JSON line per case.
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler_cache/memory_provider.h"
#include "models/generation/generator.h"
#include "models/zoo/load_model.h"
#include "runtime/base/status.h"
#include "runtime/device/device.h"
#include "runtime/lazy/context.h"
#include "tests/bench/bench_support.h"

namespace trencadis::bench {
namespace {

constexpr int64_t kPromptTokens = 128, kNewTokens = 128;
constexpr int kRuns = 4;  // the first compiles and does not count

struct Case {
  bool bf16;
  int64_t batch;

  std::string Name() const { return absl::StrCat(bf16 ? "bf16" : "f32", "_batch", batch); }
};

absl::StatusOr<Json> Measure(const Case& c) {
  compiler_cache::MemoryProvider recipes;
  TRENCADIS_ASSIGN_OR_RETURN(DeviceSpec spec, FindDeviceSpec("cpu"));
  Device device(std::move(spec), codegen::Target::Host());
  lazy::Context context(&device, &recipes);
  TRENCADIS_ASSIGN_OR_RETURN(const auto model, zoo::CreateCausalLm(SmolLm2Config()));
  const std::vector<nn::NamedParameter> parameters = model->Parameters();
  for (const nn::NamedParameter& parameter : parameters) parameter.parameter->trainable = false;
  const DType compute = c.bf16 ? DType::kBF16 : DType::kF32;
  TRENCADIS_RETURN_IF_ERROR(zoo::InitializeParameters(context, parameters, 0, compute));
  std::vector<std::vector<int32_t>> prompts(c.batch);
  uint32_t state = 12345;
  for (auto& prompt : prompts) {
    for (int64_t t = 0; t < kPromptTokens; ++t) {
      state = state * 1664525u + 1013904223u;
      prompt.push_back(static_cast<int32_t>((state >> 8) % 49152));
    }
  }
  generation::Generator generator(context, *model);
  std::vector<double> prefill, decode;
  for (int run = 0; run < kRuns; ++run) {
    TRENCADIS_ASSIGN_OR_RETURN(
        const generation::Generation result,
        generator.Generate(prompts, {.max_new_tokens = kNewTokens, .compute = compute}));
    if (run == 0) continue;
    prefill.push_back(result.prefill_seconds);
    decode.push_back(result.decode_seconds);
  }
  return Json{{"prefill_s", Median(prefill)},
              {"decode_s", Median(decode)},
              {"recipes", recipes.stats().misses},
              {"compile_s", recipes.stats().compile_seconds},
              {"peak_gib", PeakResidentGiB()}};
}

absl::StatusOr<Json> Compare(const Case& c, const std::vector<std::string>& arguments,
                             const std::string& peers) {
  const std::string rounds_text = FlagValue(arguments, "--rounds");
  const int rounds = rounds_text.empty() ? 1 : std::stoi(rounds_text);
  std::vector<double> prefill, decode, peer_prefill, peer_decode;
  Json own, peer;
  const auto tokens = static_cast<double>(c.batch * (kNewTokens - 1));
  for (int round = 0; round < rounds; ++round) {
    TRENCADIS_ASSIGN_OR_RETURN(own, RunSelf({"--child", c.Name()}));
    if (own.contains("error")) return absl::InternalError(own["error"].get<std::string>());
    prefill.push_back(own["prefill_s"]);
    decode.push_back(own["decode_s"]);
    if (HasFlag(arguments, "--no_peer")) continue;
    TRENCADIS_ASSIGN_OR_RETURN(peer, RunPeer(peers, {"decode", "--dtype", c.bf16 ? "bf16" : "fp32",
                                                     "--batch", std::to_string(c.batch)}));
    peer_prefill.push_back(peer["prefill_s"]);
    peer_decode.push_back(tokens / peer["gen_tok_s"].get<double>());
  }
  Json line = {{"case", absl::StrCat("decode_", c.Name())},
               {"ours_s", Median(decode)},
               {"tokens_per_s", tokens / Median(decode)},
               {"prefill_s", Median(prefill)}};
  if (!peer_decode.empty()) {
    line["torch_s"] = Median(peer_decode);
    line["ratio_vs_torch"] = Median(peer_decode) / Median(decode);
    line["torch_prefill_s"] = Median(peer_prefill);
    line["prefill_ratio_vs_torch"] = Median(peer_prefill) / Median(prefill);
    line["memory_ratio"] = own["peak_gib"].get<double>() / peer["peak_rss_gib"].get<double>();
    line["torch_peak_gib"] = peer["peak_rss_gib"];
    line["torch"] = peer["torch"];
  }
  for (const char* key : {"recipes", "compile_s", "peak_gib"}) line[key] = own[key];
  line["machine"] = MachineDescription();
  return line;
}

void PrintLine(const Json& line, bool json) {
  if (json) {
    std::cout << line.dump() << std::endl;
    return;
  }
  std::cout << absl::StrFormat("%-24s %.1f tokens/s, prefill %.3f s",
                               line["case"].get<std::string>(), line["tokens_per_s"].get<double>(),
                               line["prefill_s"].get<double>());
  if (line.contains("torch_s")) {
    std::cout << absl::StrFormat("  ratio %.2f, prefill ratio %.2f",
                                 line["ratio_vs_torch"].get<double>(),
                                 line["prefill_ratio_vs_torch"].get<double>());
  }
  std::cout << std::endl;
}

int Main(const std::vector<std::string>& arguments) {
  const std::string child = FlagValue(arguments, "--child");
  const std::string filter = FlagValue(arguments, "--filter");
  int failures = 0;
  for (const Case& c : {Case{false, 1}, Case{false, 8}, Case{true, 1}, Case{true, 8}}) {
    if (!child.empty() ? c.Name() != child : !absl::StrContains(c.Name(), filter)) continue;
    const absl::StatusOr<Json> line =
        child.empty() ? Compare(c, arguments, PeersDirectory(arguments)) : Measure(c);
    if (!line.ok()) {
      ++failures;
      std::cerr << c.Name() << ": " << line.status() << std::endl;
      if (!child.empty())
        std::cout << Json{{"error", line.status().ToString()}}.dump() << std::endl;
    } else if (!child.empty()) {
      std::cout << line->dump() << std::endl;
    } else {
      PrintLine(*line, HasFlag(arguments, "--json"));
    }
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace trencadis::bench

int main(int argc, char** argv) {
  return trencadis::bench::Main(std::vector<std::string>(argv + 1, argv + argc));
}
