// The options of a tool in one list: what its flags, help and reference are made from.
//
// A tool is a message with sub-messages of options (see tools.proto). The list keeps the order of
// declaration. Catalogs are built once per message type, never change, and are shared by threads.
#ifndef TRENCADIS_API_SCHEMA_CATALOG_H_
#define TRENCADIS_API_SCHEMA_CATALOG_H_

#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/schema/options.pb.h"

namespace trencadis::schema {

struct Option {
  // Fields from the tool's message to the option; the last is the option itself.
  std::vector<const google::protobuf::FieldDescriptor*> path;
  OptionSpec spec;

  const google::protobuf::FieldDescriptor* field() const { return path.back(); }
  const std::string& name() const { return path.back()->name(); }
  bool is_bool() const;
  // Such as "$.training.learning_rate".
  std::string JsonPath() const;
  // The message that holds the option inside `tool`. The first returns null where it is not set.
  const google::protobuf::Message* Find(const google::protobuf::Message& tool) const;
  google::protobuf::Message* Mutable(google::protobuf::Message* tool) const;
  // Whether the option has a value in `tool`; a list has one if it is not empty.
  bool IsSet(const google::protobuf::Message& tool) const;
};

class Catalog {
 public:
  // The catalog of a tool's message. INTERNAL if two sub-messages declare the same name.
  static absl::StatusOr<const Catalog*> Of(const google::protobuf::Descriptor* tool);

  const google::protobuf::Descriptor* tool() const { return tool_; }
  // The program's name, "run_clm"; the message's name where it has no ToolSpec.
  std::string tool_name() const;
  const std::string& summary() const;
  const std::vector<Option>& options() const { return options_; }
  // By name or alias (with its dashes); null where unknown.
  const Option* Find(absl::string_view name) const;

 private:
  explicit Catalog(const google::protobuf::Descriptor* tool);
  void Collect(const google::protobuf::Descriptor* message,
               std::vector<const google::protobuf::FieldDescriptor*>* path);
  absl::Status CheckNames() const;

  const google::protobuf::Descriptor* tool_;
  std::vector<Option> options_;
};

}  // namespace trencadis::schema

#endif  // TRENCADIS_API_SCHEMA_CATALOG_H_
