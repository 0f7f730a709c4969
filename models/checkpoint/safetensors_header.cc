#include "models/checkpoint/safetensors_header.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace trencadis::checkpoint {
namespace {

constexpr absl::string_view kMetadataKey = "__metadata__";
constexpr size_t kMaxRank = 64;

// Receives the parser's events. The header has a fixed grammar, so the handler is a small state
// machine and nesting needs no stack: anything unexpected ends the parse.
class HeaderHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  const std::string& error() const { return error_; }
  SafetensorsHeader& header() { return header_; }

  bool null() override { return Fail("null"); }
  bool boolean(bool) override { return Fail("a boolean"); }
  bool number_float(double, const std::string&) override {
    return Fail("a number with a fraction");
  }
  bool number_integer(int64_t) override { return Fail("a negative number"); }
  bool binary(binary_t&) override { return Fail("binary data"); }

  bool number_unsigned(uint64_t value) override {
    if (state_ != State::kNumbers) return Fail("a number");
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return Fail("a number above 2^63");
    }
    if (numbers_->size() == kMaxRank) return Fail("more than 64 numbers");
    numbers_->push_back(static_cast<int64_t>(value));
    return true;
  }

  bool string(std::string& value) override {
    if (state_ == State::kMetadata) {
      header_.metadata[field_] = std::move(value);
      return true;
    }
    if (state_ != State::kEntry || field_ != "dtype") return Fail("a string");
    header_.entries.back().dtype = std::move(value);
    return true;
  }

  bool start_object(size_t) override {
    if (state_ == State::kStart) {
      state_ = State::kNames;
    } else if (state_ == State::kNames && name_ == kMetadataKey) {
      if (has_metadata_) return Fail("a second __metadata__");
      has_metadata_ = true;
      state_ = State::kMetadata;
    } else if (state_ == State::kNames) {
      header_.entries.push_back({.name = name_});
      seen_ = 0;
      offsets_.clear();
      state_ = State::kEntry;
    } else {
      return Fail("an object");
    }
    return true;
  }

  bool key(std::string& value) override {
    if (state_ == State::kNames) {
      name_ = std::move(value);
      return true;
    }
    field_ = std::move(value);
    if (state_ == State::kMetadata) return true;
    const int bit = field_ == "dtype"          ? 1
                    : field_ == "shape"        ? 2
                    : field_ == "data_offsets" ? 4
                                               : 0;
    if (bit == 0) return Fail("a field that tensors do not have");
    if (seen_ & bit) return Fail("a second value");
    seen_ |= bit;
    return true;
  }

  bool end_object() override {
    if (state_ != State::kEntry) {
      state_ = state_ == State::kMetadata ? State::kNames : State::kDone;
      return true;
    }
    field_.clear();
    if (seen_ != 7) return Fail("an object without dtype, shape or data_offsets");
    if (offsets_.size() != 2) return Fail("data_offsets that are not two numbers");
    header_.entries.back().begin = offsets_[0];
    header_.entries.back().end = offsets_[1];
    state_ = State::kNames;
    return true;
  }

  bool start_array(size_t) override {
    if (state_ != State::kEntry || field_ == "dtype") return Fail("an array");
    numbers_ = field_ == "shape" ? &header_.entries.back().shape : &offsets_;
    state_ = State::kNumbers;
    return true;
  }

  bool end_array() override {
    state_ = State::kEntry;
    return true;
  }

  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception& e) override {
    error_ = absl::StrCat("the header is not JSON (at its byte ", position, ")");
    return false;
  }

 private:
  enum class State { kStart, kNames, kMetadata, kEntry, kNumbers, kDone };

  bool Fail(absl::string_view what) {
    error_ = absl::StrCat("the header holds ", what);
    if (state_ == State::kStart) {
      absl::StrAppend(&error_, " where an object is wanted");
    } else if (state_ == State::kMetadata) {
      absl::StrAppend(&error_, " in __metadata__ (\"", field_, "\"), which may hold only strings");
    } else {
      absl::StrAppend(&error_, " at \"", name_, "\"");
      if (state_ != State::kNames && !field_.empty()) absl::StrAppend(&error_, ".", field_);
    }
    return false;
  }

  State state_ = State::kStart;
  SafetensorsHeader header_;
  bool has_metadata_ = false;
  std::string name_;   // key at the top level
  std::string field_;  // key inside an entry or the metadata
  int seen_ = 0;       // fields of the entry so far: 1 dtype, 2 shape, 4 data_offsets
  std::vector<int64_t> offsets_;
  std::vector<int64_t>* numbers_ = nullptr;  // the array being read
  std::string error_;
};

}  // namespace

absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(absl::string_view json_text) {
  // The parser would skip a byte order mark and would take a NUL for the end of the text.
  const absl::string_view start = absl::StripLeadingAsciiWhitespace(json_text);
  if (start.empty() || static_cast<unsigned char>(start[0]) == 0xef ||
      json_text.find('\0') != absl::string_view::npos) {
    return absl::InvalidArgumentError("the header is not a JSON object");
  }
  HeaderHandler handler;
  if (!nlohmann::json::sax_parse(json_text.begin(), json_text.end(), &handler)) {
    return absl::InvalidArgumentError(handler.error());
  }
  return std::move(handler.header());
}

}  // namespace trencadis::checkpoint
