#include "tests/bench/bench_support.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/base/clock.h"
#include "runtime/base/env.h"
#include "runtime/base/status.h"
#include "runtime/codegen/matmul.h"
#include "runtime/codegen/target.h"

namespace trencadis::bench {
namespace {

std::string Quoted(const std::string& argument) { return absl::StrCat("'", argument, "'"); }

// The last line that `command` prints on standard output, as JSON.
absl::StatusOr<Json> RunForJson(const std::string& command) {
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (pipe == nullptr) return absl::InternalError(absl::StrCat("cannot run ", command));
  std::string output;
  std::array<char, 4096> buffer;
  while (size_t count = fread(buffer.data(), 1, buffer.size(), pipe.get())) {
    output.append(buffer.data(), count);
  }
  std::vector<std::string> lines = absl::StrSplit(output, '\n', absl::SkipWhitespace());
  Json json = lines.empty() ? Json() : Json::parse(lines.back(), nullptr, false);
  if (!json.is_object()) {
    return absl::InternalError(absl::StrCat(command, " printed no result"));
  }
  return json;
}

double ProductGflops(DType dtype) {
  constexpr int64_t kSize = 2048;
  codegen::MatMulSpec spec;
  spec.m = spec.n = spec.k = kSize;
  spec.a_dtype = spec.b_dtype = spec.c_dtype = dtype;
  const auto product = codegen::MatMul::Create(spec, codegen::Target::Host());
  TRENCADIS_CHECK(product.ok());
  const std::vector<std::byte> zeros(kSize * kSize * sizeof(float));
  std::vector<std::byte> result(zeros.size()), scratch((*product)->scratchpad_bytes() + 64);
  double best_s = 1e9;
  for (int i = 0; i < 5; ++i) {
    const double start_s = MonotonicClock().NowSeconds();
    TRENCADIS_CHECK(
        (*product)->Execute(zeros.data(), zeros.data(), result.data(), {}, scratch.data()).ok());
    best_s = std::min(best_s, MonotonicClock().NowSeconds() - start_s);
  }
  return 2.0 * kSize * kSize * kSize / best_s / 1e9;
}

}  // namespace

checkpoint::ModelConfig SmolLm2Config() {
  checkpoint::ModelConfig config;
  config.architectures = {"LlamaForCausalLM"};
  config.vocab_size = 49152;
  config.hidden_size = 576;
  config.intermediate_size = 1536;
  config.num_hidden_layers = 30;
  config.num_attention_heads = 9;
  config.num_key_value_heads = 3;
  config.head_dim = 64;
  config.rms_norm_eps = 1e-5;
  config.rope_theta = 100000;
  config.tie_word_embeddings = true;
  return config;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double PeakResidentGiB() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    double kib = 0;
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipWhitespace());
    if (words.size() >= 2 && words[0] == "VmHWM:" && absl::SimpleAtod(words[1], &kib)) {
      return kib / (1024.0 * 1024.0);
    }
  }
  return 0;
}

absl::StatusOr<Json> RunSelf(const std::vector<std::string>& arguments) {
  std::string command = Quoted(std::filesystem::read_symlink("/proc/self/exe").string());
  for (const std::string& argument : arguments) absl::StrAppend(&command, " ", Quoted(argument));
  return RunForJson(command);
}

absl::StatusOr<Json> RunPeer(const std::string& peers, const std::vector<std::string>& arguments) {
  const std::string cache =
      absl::StrCat(EnvString("HOME", std::filesystem::temp_directory_path().string()),
                   "/.cache/trencadis/peers");
  TRENCADIS_ASSIGN_OR_RETURN(
      Json json,
      RunForJson(absl::StrCat("/usr/bin/python3 tests/bench/run_peer.py --peers ", Quoted(peers),
                              " --cache ", Quoted(cache), " ", absl::StrJoin(arguments, " "))));
  if (json.contains("error")) return absl::InternalError(json["error"].get<std::string>());
  return json;
}

std::string PeersDirectory(const std::vector<std::string>& arguments) {
  const std::string given = FlagValue(arguments, "--peers");
  return given.empty() ? "../shared_data/shared/peers" : given;
}

Json MachinePeaks() {
  return {{"f32_gflops", ProductGflops(DType::kF32)}, {"bf16_gflops", ProductGflops(DType::kBF16)}};
}

Json MachineDescription() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line, model;
  while (std::getline(cpuinfo, line)) {
    if (line.rfind("model name", 0) == 0) model = line.substr(line.find(':') + 2);
  }
  return {{"cpu", model}, {"target", codegen::Target::Host().ToString()}};
}

bool HasFlag(const std::vector<std::string>& arguments, const std::string& flag) {
  return std::find(arguments.begin(), arguments.end(), flag) != arguments.end();
}

std::string FlagValue(const std::vector<std::string>& arguments, const std::string& flag) {
  const auto at = std::find(arguments.begin(), arguments.end(), flag);
  return at == arguments.end() || at + 1 == arguments.end() ? "" : *(at + 1);
}

}  // namespace trencadis::bench
