#include "tools/quickstart/tokenizer_trainer.h"

#include <sentencepiece_trainer.h>

#include <cstddef>
#include <sstream>
#include <utility>

namespace trencadis::quickstart {
namespace {

class Lines : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(std::vector<std::string> lines) : lines_(std::move(lines)) {}
  bool done() const override { return next_ == lines_.size(); }
  void Next() override { ++next_; }
  const std::string& value() const override { return lines_[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  std::vector<std::string> lines_;
  size_t next_ = 0;
};

}  // namespace

TrainedTokenizer TrainTokenizer(const std::vector<std::string>& texts, int vocabulary_size) {
  std::vector<std::string> lines;
  for (const std::string& text : texts) {
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      if (!line.empty()) lines.push_back(line);
    }
  }
  Lines iterator(std::move(lines));
  TrainedTokenizer result;
  const auto status =
      sentencepiece::SentencePieceTrainer::Train({{"model_type", "bpe"},
                                                  {"vocab_size", std::to_string(vocabulary_size)},
                                                  {"byte_fallback", "true"},
                                                  {"character_coverage", "1.0"},
                                                  {"normalization_rule_name", "identity"},
                                                  {"remove_extra_whitespaces", "false"},
                                                  {"num_threads", "1"},
                                                  {"minloglevel", "2"}},
                                                 &iterator, &result.model);
  if (!status.ok()) {
    result.model.clear();
    result.error = status.ToString();
  }
  return result;
}

}  // namespace trencadis::quickstart
