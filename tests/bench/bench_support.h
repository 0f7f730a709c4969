// What the benchmarks share: the peer's geometry, the peer itself, and the numbers they report.
#ifndef TRENCADIS_TESTS_BENCH_BENCH_SUPPORT_H_
#define TRENCADIS_TESTS_BENCH_BENCH_SUPPORT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/checkpoint/hf_config.h"

namespace trencadis::bench {

using Json = nlohmann::ordered_json;

// SmolLM2-135M: 30 layers, width 576, 9 heads on 3 key-value heads, 49152 tokens, tied head.
checkpoint::ModelConfig SmolLm2Config();

double Median(std::vector<double> values);

// The most memory this process has had resident, in GiB (VmHWM).
double PeakResidentGiB();

// Runs this program again with `arguments`, and returns the JSON line that it prints.
absl::StatusOr<Json> RunSelf(const std::vector<std::string>& arguments);

// Runs a case of the PyTorch peers in their tuned environment (run_peer.py); `peers` is the folder
// of torch_peers.py.
absl::StatusOr<Json> RunPeer(const std::string& peers, const std::vector<std::string>& arguments);

// Where torch_peers.py is: the flag --peers, or ../shared/peers beside the workspace.
std::string PeersDirectory(const std::vector<std::string>& arguments);

// f32 and bf16 GFLOP/s of one large product: what the machine gives at most.
Json MachinePeaks();

// CPU, threads and versions, for each line.
Json MachineDescription();

// Whether `flag` is among the arguments, and the value after it (or "").
bool HasFlag(const std::vector<std::string>& arguments, const std::string& flag);
std::string FlagValue(const std::vector<std::string>& arguments, const std::string& flag);

}  // namespace trencadis::bench

#endif  // TRENCADIS_TESTS_BENCH_BENCH_SUPPORT_H_
