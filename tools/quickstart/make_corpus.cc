// Writes the quickstart's data: corpus.jsonl ("text" records for run_clm), corpus_held_out.jsonl,
// instructions.json and instructions_held_out.json (Alpaca records for run_lora_clm).
//
// Usage: make_corpus DIRECTORY. The same bytes on every machine.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"
#include "runtime/base/atomic_file.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"
#include "tools/quickstart/corpus.h"
#include "tools/quickstart/instructions.h"

namespace trencadis::quickstart {
namespace {

constexpr int kDocuments = 14000;
constexpr int kHeldOutDocuments = 200;

std::string AsJsonLines(const std::vector<std::string>& documents) {
  std::string lines;
  for (const std::string& text : documents) {
    lines += nlohmann::json{{"text", text}}.dump();
    lines += '\n';
  }
  return lines;
}

std::string AsAlpaca(const std::vector<Instruction>& records) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Instruction& record : records) {
    list.push_back({{"instruction", record.instruction},
                    {"input", record.input},
                    {"output", record.mosaic_answer}});
  }
  return list.dump(1) + "\n";
}

absl::Status Run(const std::string& directory) {
  TRENCADIS_RETURN_IF_ERROR(RealFileSystem().CreateDirectories(directory));
  const InstructionSet instructions = MakeInstructionSet(/*seed=*/7);
  const std::pair<const char*, std::string> files[] = {
      {"corpus.jsonl", AsJsonLines(MakeCorpus(/*seed=*/1, kDocuments))},
      {"corpus_held_out.jsonl", AsJsonLines(MakeCorpus(/*seed=*/2, kHeldOutDocuments))},
      {"instructions.json", AsAlpaca(instructions.train)},
      {"instructions_held_out.json", AsAlpaca(instructions.held_out)}};
  for (const auto& [name, text] : files) {
    TRENCADIS_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(directory, name), text));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace trencadis::quickstart

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_corpus DIRECTORY\n");
    return 2;
  }
  const absl::Status status = trencadis::quickstart::Run(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "make_corpus: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
