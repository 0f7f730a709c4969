// JsonFields: reads the fields of a JSON object one by one, checking the type of each.
#ifndef TRENCADIS_MODELS_CHECKPOINT_JSON_FIELDS_H_
#define TRENCADIS_MODELS_CHECKPOINT_JSON_FIELDS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace trencadis::checkpoint {

// A value as one line of JSON, cut after 60 bytes, for messages.
std::string ShortText(const nlohmann::json& value);

// Each reading method removes its key, so that rest() is what nobody asked for, and leaves `out`
// alone when the key is absent or null. The first value of a wrong type becomes status(), which
// names the key, what it holds and what was wanted. Used by one thread.
class JsonFields {
 public:
  // `object` must be a JSON object.
  explicit JsonFields(nlohmann::json object) : object_(std::move(object)) {}

  const absl::Status& status() const { return status_; }
  const nlohmann::json& rest() const { return object_; }
  // False when the key is absent or null.
  bool Has(const char* key) const { return object_.contains(key) && !object_[key].is_null(); }

  void Int(const char* key, int64_t& out);
  void OptionalInt(const char* key, std::optional<int64_t>& out);
  void Number(const char* key, double& out);
  void Bool(const char* key, bool& out);
  void String(const char* key, std::string& out);
  void Strings(const char* key, std::vector<std::string>& out);
  // One integer or a list of them.
  void Ints(const char* key, std::vector<int64_t>& out);
  // The value, whatever its type; null when absent.
  nlohmann::json Take(const char* key);
  // An empty object when absent or null.
  nlohmann::json Object(const char* key);

 private:
  void Fail(const char* key, const nlohmann::json& value, absl::string_view wanted);

  nlohmann::json object_;
  absl::Status status_;
};

}  // namespace trencadis::checkpoint

#endif  // TRENCADIS_MODELS_CHECKPOINT_JSON_FIELDS_H_
