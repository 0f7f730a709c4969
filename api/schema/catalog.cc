#include "api/schema/catalog.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/schema/spec.h"
#include "runtime/base/status.h"

namespace trencadis::schema {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

}  // namespace

bool Option::is_bool() const {
  return field()->cpp_type() == FieldDescriptor::CPPTYPE_BOOL && !field()->is_repeated();
}

std::string Option::JsonPath() const {
  std::string text = "$";
  for (const FieldDescriptor* step : path) absl::StrAppend(&text, ".", step->name());
  return text;
}

const Message* Option::Find(const Message& tool) const {
  const Message* message = &tool;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    const google::protobuf::Reflection* reflection = message->GetReflection();
    if (!reflection->HasField(*message, path[i])) return nullptr;
    message = &reflection->GetMessage(*message, path[i]);
  }
  return message;
}

Message* Option::Mutable(Message* tool) const {
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    tool = tool->GetReflection()->MutableMessage(tool, path[i]);
  }
  return tool;
}

bool Option::IsSet(const Message& tool) const {
  const Message* message = Find(tool);
  if (message == nullptr) return false;
  const google::protobuf::Reflection* reflection = message->GetReflection();
  return field()->is_repeated() ? reflection->FieldSize(*message, field()) > 0
                                : reflection->HasField(*message, field());
}

Catalog::Catalog(const Descriptor* tool) : tool_(tool) {
  std::vector<const FieldDescriptor*> path;
  Collect(tool, &path);
}

void Catalog::Collect(const Descriptor* message, std::vector<const FieldDescriptor*>* path) {
  const FieldDescriptor* via = path->empty() ? nullptr : path->back();
  for (int i = 0; i < message->field_count(); ++i) {
    const FieldDescriptor* field = message->field(i);
    if (IsAbsent(via, field)) continue;
    path->push_back(field);
    if (IsOption(field)) {
      options_.push_back({*path, SpecOf(via, field)});
    } else {
      Collect(field->message_type(), path);
    }
    path->pop_back();
  }
}

absl::Status Catalog::CheckNames() const {
  std::map<std::string, const Option*> owners;
  for (const Option& entry : options_) {
    std::vector<std::string> names(entry.spec.aliases().begin(), entry.spec.aliases().end());
    names.push_back(absl::StrCat("--", entry.name()));
    for (const std::string& name : names) {
      const auto [owner, fresh] = owners.emplace(name, &entry);
      if (fresh) continue;
      return absl::InternalError(absl::StrCat(
          tool_name(), ": ", name, " is both ", owner->second->JsonPath(), " and ",
          entry.JsonPath(), "; rename one, or list it as absent where the tool includes it"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<const Catalog*> Catalog::Of(const Descriptor* tool) {
  static std::mutex& mutex = *new std::mutex;
  static auto& catalogs = *new std::map<const Descriptor*, std::unique_ptr<const Catalog>>;
  const std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<const Catalog>& slot = catalogs[tool];
  if (slot == nullptr) {
    std::unique_ptr<const Catalog> fresh(new Catalog(tool));
    TRENCADIS_RETURN_IF_ERROR(fresh->CheckNames());
    slot = std::move(fresh);
  }
  return slot.get();
}

std::string Catalog::tool_name() const {
  const std::string& name = tool_->options().GetExtension(schema::tool).name();
  return name.empty() ? tool_->name() : name;
}

const std::string& Catalog::summary() const {
  return tool_->options().GetExtension(schema::tool).summary();
}

const Option* Catalog::Find(absl::string_view name) const {
  for (const Option& entry : options_) {
    if (entry.name() == name) return &entry;
    for (const std::string& alias : entry.spec.aliases()) {
      if (alias == name) return &entry;
    }
  }
  return nullptr;
}

}  // namespace trencadis::schema
