#include "api/schema/config_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "api/schema/json_read.h"
#include "runtime/base/status.h"

namespace trencadis::schema {
namespace {

constexpr size_t kMaxFileBytes = size_t{4} << 20;

}  // namespace

absl::Status ReadConfigFile(const std::string& path, google::protobuf::Message* message) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxFileBytes + 1, '\0');
  errno = 0;
  // A directory opens and fails to read.
  if (!file ||
      (!file.read(text.data(), static_cast<std::streamsize>(text.size())) && !file.eof())) {
    const char* reason = errno != 0 ? std::strerror(errno) : "it is not a readable file";
    return absl::NotFoundError(absl::StrCat(path, ": cannot read the configuration: ", reason));
  }
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMaxFileBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": got more than ", kMaxFileBytes, " bytes, wanted a configuration"));
  }
  JsonReadOptions options;
  options.flat = true;
  return Annotate(JsonToMessage(text, message, options), path);
}

}  // namespace trencadis::schema
