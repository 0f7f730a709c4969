#include "models/checkpoint/file_kind.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace trencadis::checkpoint {
namespace {

constexpr absl::string_view kLfsHeader = "version https://git-lfs.github.com/spec/";

std::string DescribeLfsPointer(absl::string_view text) {
  std::string size = "unknown size";
  for (absl::string_view line : absl::StrSplit(text.substr(0, 1024), '\n')) {
    int64_t bytes = 0;
    if (absl::StartsWith(line, "size ") && absl::SimpleAtoi(line.substr(5), &bytes)) {
      size = absl::StrCat(bytes, " bytes");
    }
  }
  return absl::StrCat("a Git LFS pointer, not the file itself (", size,
                      "); fetch it with `git lfs pull`");
}

// Empty when the file is none of the kinds known here.
std::string Describe(absl::string_view text, absl::string_view wanted) {
  if (text.empty()) return "empty; download it again";
  if (absl::StartsWith(text, kLfsHeader)) return DescribeLfsPointer(text);
  const absl::string_view start = absl::StripLeadingAsciiWhitespace(text.substr(0, 512));
  if (absl::StartsWithIgnoreCase(start, "<!doctype html") ||
      absl::StartsWithIgnoreCase(start, "<html")) {
    return "an HTML page saved under this name (a login or error page?); download it again";
  }
  if (absl::StartsWith(text, "PK\x03\x04")) {
    return absl::StrCat("a zip archive (a PyTorch pickle?), not ", wanted);
  }
  if (absl::StartsWith(text, "\x80\x02") || absl::StartsWith(text, "\x80\x04")) {
    return absl::StrCat("a Python pickle, not ", wanted);
  }
  if (absl::StartsWith(text, "\x1f\x8b")) {
    return absl::StrCat("a gzip archive, not ", wanted, "; decompress it first");
  }
  if (wanted != "GGUF" && absl::StartsWith(text, "GGUF")) {
    return absl::StrCat("a GGUF file, not ", wanted, "; name it .gguf");
  }
  // A safetensors file may begin with these bytes only if its header is over a gigabyte.
  if (absl::StartsWith(start, "{\"") && text.size() > 8 && text[7] != 0) {
    return absl::StrCat("a JSON text (an error message?), not ", wanted);
  }
  if (wanted == "GGUF" && text.size() > 8 && text[8] == '{') return "a safetensors file, not GGUF";
  return "";
}

}  // namespace

absl::Status CheckNotImpostor(absl::Span<const std::byte> contents, absl::string_view wanted) {
  const std::string kind = Describe(
      absl::string_view(reinterpret_cast<const char*>(contents.data()), contents.size()), wanted);
  if (kind.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the file is ", kind));
}

}  // namespace trencadis::checkpoint
