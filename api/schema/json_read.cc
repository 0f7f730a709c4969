#include "api/schema/json_read.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "api/schema/catalog.h"
#include "api/schema/nearest.h"
#include "api/schema/spec.h"
#include "api/schema/value_text.h"
#include "runtime/base/status.h"

namespace trencadis::schema {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using nlohmann::json;

// An object that is being read. `field` is the member whose value comes next and `target` the
// message that holds it: `message` itself, or a sub-message where the member is a flat option.
struct Frame {
  Message* message;
  const FieldDescriptor* via;
  std::set<std::string> keys;
  std::string key;
  Message* target = nullptr;
  const FieldDescriptor* field = nullptr;
  OptionSpec spec;
  bool in_list = false;
  int index = 0;
};

// "line 3, column 14" of a byte of `text`.
std::string Position(absl::string_view text, size_t byte) {
  int line = 1, column = 1;
  for (size_t i = 0; i < byte && i < text.size(); ++i) {
    const bool end_of_line = text[i] == '\n';
    line += end_of_line ? 1 : 0;
    column = end_of_line ? 1 : column + 1;
  }
  return absl::StrCat("line ", line, ", column ", column);
}

// "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..." without what
// nlohmann puts in front.
absl::string_view BareMessage(absl::string_view what) {
  for (const absl::string_view front : {"] ", ": "}) {
    const size_t at = what.find(front);
    if (at != absl::string_view::npos) what.remove_prefix(at + front.size());
  }
  return what;
}

// Follows nlohmann's parser event by event; every handler returns false once status_ is an error,
// which ends parsing.
class Reader : public nlohmann::json_sax<json> {
 public:
  Reader(absl::string_view text, Message* root, const Catalog* flat)
      : text_(text), root_(root), flat_(flat) {}

  const absl::Status& status() const { return status_; }

  bool null() override {
    if (frames_.empty() || InList()) return WrongType("null");
    const Frame& frame = frames_.back();
    const bool unset_by_nature = IsOption(frame.field) && !frame.spec.has_default_value();
    return unset_by_nature || WrongType("null");
  }

  bool boolean(bool value) override {
    const FieldDescriptor* field = Expect(FieldDescriptor::CPPTYPE_BOOL);
    if (field == nullptr) return WrongType(value ? "true" : "false");
    return Store(value ? "true" : "false");
  }

  bool number_integer(number_integer_t value) override { return Integer(absl::StrCat(value)); }
  bool number_unsigned(number_unsigned_t value) override { return Integer(absl::StrCat(value)); }

  bool number_float(number_float_t value, const string_t& text) override {
    if (Expect(FieldDescriptor::CPPTYPE_DOUBLE) == nullptr) return WrongType(text);
    return Store(text);
  }

  bool string(string_t& value) override {
    if (Expect(FieldDescriptor::CPPTYPE_STRING) == nullptr) {
      return WrongType(absl::StrCat("the text \"", absl::Utf8SafeCEscape(value), "\""));
    }
    if (!IsCleanText(value)) return Fail("got a text with a NUL character, wanted none");
    return Store(value);
  }

  bool binary(binary_t&) override { return WrongType("bytes"); }

  bool start_object(size_t) override {
    if (frames_.empty()) {
      frames_.push_back({root_, /*via=*/nullptr});
      return true;
    }
    const Frame& frame = frames_.back();
    if (InList() || IsOption(frame.field)) return WrongType("an object");
    Message* inner = frame.target->GetReflection()->MutableMessage(frame.target, frame.field);
    frames_.push_back({inner, frame.field});
    return true;
  }

  bool key(string_t& name) override {
    Frame& frame = frames_.back();
    frame.key = name;
    if (!frame.keys.insert(name).second) return Fail("got this member twice, wanted it once");
    if (!FindMember(&frame)) return UnknownMember(frame);
    if (!given_.insert({frame.target, frame.field}).second) {
      return Fail(absl::StrCat("got ", frame.field->name(), " twice, under two names"));
    }
    const google::protobuf::OneofDescriptor* choice = frame.field->real_containing_oneof();
    const Reflection* reflection = frame.target->GetReflection();
    if (choice != nullptr && reflection->HasOneof(*frame.target, choice) &&
        !reflection->HasField(*frame.target, frame.field)) {
      return Fail(absl::StrCat("got this beside ",
                               reflection->GetOneofFieldDescriptor(*frame.target, choice)->name(),
                               ", wanted one of them"));
    }
    return true;
  }

  bool end_object() override {
    frames_.pop_back();
    return true;
  }

  bool start_array(size_t) override {
    if (frames_.empty() || InList() || !frames_.back().field->is_repeated()) {
      return WrongType("a list");
    }
    Frame& frame = frames_.back();
    frame.in_list = true;
    frame.index = 0;
    frame.target->GetReflection()->ClearField(frame.target, frame.field);
    return true;
  }

  bool end_array() override {
    frames_.back().in_list = false;
    return true;
  }

  bool parse_error(size_t position, const std::string&, const json::exception& error) override {
    if (!status_.ok()) return false;
    status_ = absl::InvalidArgumentError(
        absl::StrCat("not JSON at ", Position(text_, position == 0 ? 0 : position - 1), " (",
                     Path(), "): ", BareMessage(error.what())));
    return false;
  }

 private:
  bool InList() const { return !frames_.empty() && frames_.back().in_list; }

  std::string Path() const {
    std::string path = "$";
    for (const Frame& frame : frames_) {
      if (frame.key.empty()) continue;
      absl::StrAppend(&path, ".", absl::Utf8SafeCEscape(frame.key));
      if (frame.in_list) absl::StrAppend(&path, "[", frame.index, "]");
    }
    return path;
  }

  bool Fail(absl::string_view problem) {
    status_ = absl::InvalidArgumentError(absl::StrCat(Path(), ": ", problem));
    return false;
  }

  bool WrongType(absl::string_view got) {
    if (frames_.empty()) return Fail(absl::StrCat("got ", got, ", wanted an object"));
    const Frame& frame = frames_.back();
    const bool list = frame.field->is_repeated() && !frame.in_list;
    return Fail(
        absl::StrCat("got ", got, ", wanted ", list ? "a list" : Wanted(frame.field, frame.spec)));
  }

  // Whether the value that comes is for an option of `type`.
  const FieldDescriptor* Expect(FieldDescriptor::CppType type) const {
    if (frames_.empty()) return nullptr;
    const FieldDescriptor* field = frames_.back().field;
    const bool fits = field->cpp_type() == type && field->is_repeated() == InList();
    return fits ? field : nullptr;
  }

  bool Integer(const std::string& digits) {
    const bool number = Expect(FieldDescriptor::CPPTYPE_INT32) != nullptr ||
                        Expect(FieldDescriptor::CPPTYPE_INT64) != nullptr ||
                        Expect(FieldDescriptor::CPPTYPE_DOUBLE) != nullptr;
    return number ? Store(digits) : WrongType(digits);
  }

  bool Store(absl::string_view text) {
    Frame& frame = frames_.back();
    const absl::Status stored = SetFromText(frame.target, frame.field, text);
    if (!stored.ok()) return Fail(stored.message());
    ++frame.index;
    return true;
  }

  // Sets field, target and spec of `frame` for its key.
  bool FindMember(Frame* frame) const {
    frame->target = frame->message;
    frame->field = frame->message->GetDescriptor()->FindFieldByName(frame->key);
    if (frame->field != nullptr && !IsAbsent(frame->via, frame->field)) {
      if (IsOption(frame->field)) frame->spec = SpecOf(frame->via, frame->field);
      return true;
    }
    if (flat_ == nullptr || frames_.size() != 1) return false;
    const Option* option = flat_->Find(frame->key);
    if (option == nullptr) option = flat_->Find(absl::StrCat("--", frame->key));
    if (option == nullptr) return false;
    frame->field = option->field();
    frame->spec = option->spec;
    frame->target = option->Mutable(root_);
    return true;
  }

  bool UnknownMember(const Frame& frame) {
    std::vector<std::string> names;
    const google::protobuf::Descriptor* message = frame.message->GetDescriptor();
    for (int i = 0; i < message->field_count(); ++i) {
      if (!IsAbsent(frame.via, message->field(i))) names.push_back(message->field(i)->name());
    }
    if (flat_ != nullptr && frames_.size() == 1) {
      for (const Option& option : flat_->options()) names.push_back(option.name());
    }
    return Fail(absl::StrCat("unknown member", DidYouMean(frame.key, names)));
  }

  absl::string_view text_;
  Message* root_;
  const Catalog* flat_;
  std::vector<Frame> frames_;
  std::set<std::pair<const Message*, const FieldDescriptor*>> given_;
  absl::Status status_;
};

}  // namespace

absl::Status JsonToMessage(absl::string_view text, Message* message,
                           const JsonReadOptions& options) {
  const Catalog* flat = nullptr;
  if (options.flat) {
    TRENCADIS_ASSIGN_OR_RETURN(flat, Catalog::Of(message->GetDescriptor()));
  }
  Reader reader(text, message, flat);
  json::sax_parse(text.begin(), text.end(), &reader);
  return reader.status();
}

}  // namespace trencadis::schema
