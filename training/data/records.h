// Records: what data files hold, before it is tokenized.
//
//   .txt          each line with its newline is one text
//   .jsonl .json  objects, one per line, or in an array: {"text"}, {"prompt", "completion"} or
//   Alpaca's
//                 {"instruction", "input", "output"}
#ifndef TRENCADIS_TRAINING_DATA_RECORDS_H_
#define TRENCADIS_TRAINING_DATA_RECORDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trencadis::training {

struct Record {
  std::string prompt;      // empty for plain text
  std::string completion;  // the text, or the answer
};

// Other names for the members of an Alpaca record. Where one is given, every object is such a
// record.
struct RecordColumns {
  std::string instruction = "instruction";
  std::string input = "input";
  std::string output = "output";

  bool operator==(const RecordColumns&) const = default;
};

// Reads files in order. Errors name the file and the line (or the element) and what is wrong with
// it.
absl::StatusOr<std::vector<Record>> ReadRecords(const std::vector<std::string>& paths,
                                                bool keep_line_breaks,
                                                const RecordColumns& columns = {});

// Stanford Alpaca's prompt, with an Input block only if `input` is not empty.
std::string AlpacaPrompt(absl::string_view instruction, absl::string_view input);

}  // namespace trencadis::training

#endif  // TRENCADIS_TRAINING_DATA_RECORDS_H_
