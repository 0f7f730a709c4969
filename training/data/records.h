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

// Reads files in order. Errors name the file and the line (or the element) and what is wrong with
// it.
absl::StatusOr<std::vector<Record>> ReadRecords(const std::vector<std::string>& paths,
                                                bool keep_line_breaks);

// Stanford Alpaca's prompt, with an Input block only if `input` is not empty.
std::string AlpacaPrompt(absl::string_view instruction, absl::string_view input);

}  // namespace trencadis::training

#endif  // TRENCADIS_TRAINING_DATA_RECORDS_H_
