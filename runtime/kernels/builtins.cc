#include "runtime/kernels/builtins.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/kernels/indexing.h"
#include "runtime/kernels/layout.h"

namespace trencadis::kernels {
namespace {

using Parameters = absl::Span<const int64_t>;

constexpr int64_t kDTypes = static_cast<int64_t>(DType::kU8) + 1;

DType ToDType(int64_t number) { return static_cast<DType>(number); }

int32_t Scalar(const void* data) { return *static_cast<const int32_t*>(data); }

absl::Status RunTake(const BuiltinCall& call) {
  const Parameters p = call.parameters;
  return Take(call.operands[0], p[0], p[1], {call.operands[1], ToDType(p[2]), p[3]}, call.result);
}

absl::Status RunScatterAdd(const BuiltinCall& call) {
  const Parameters p = call.parameters;
  return ScatterAdd({call.operands[0], ToDType(p[0]), p[1]}, call.operands[1], ToDType(p[2]), p[3],
                    p[4], call.result, ToDType(p[5]));
}

absl::Status RunDynamicSlice(const BuiltinCall& call) {
  const Parameters p = call.parameters;
  return DynamicSlice(call.operands[0], {p[0], p[1], p[2]}, Scalar(call.operands[1]), p[3],
                      call.result);
}

absl::Status RunDynamicUpdateSlice(const BuiltinCall& call) {
  const Parameters p = call.parameters;
  return DynamicUpdateSlice(call.operands[0], {p[0], p[1], p[2]}, call.operands[1], p[3],
                            Scalar(call.operands[2]), call.result);
}

absl::Status RunArgmax(const BuiltinCall& call) {
  const Parameters p = call.parameters;
  Argmax(call.operands[0], ToDType(p[0]), p[1], p[2], p[3], static_cast<int32_t*>(call.result));
  return absl::OkStatus();
}

absl::Status RunConcatenate(const BuiltinCall& call) {
  Concatenate(call.operands, call.parameters.subspan(1), call.parameters[0], call.result);
  return absl::OkStatus();
}

absl::Status RunPad(const BuiltinCall& call) {
  const Parameters p = call.parameters;
  const size_t rank = (p.size() - 1) / 3;
  Pad(call.operands[0], ToDType(p[0]), p.subspan(1, rank), p.subspan(1 + rank, rank),
      p.subspan(1 + 2 * rank, rank), call.value, call.result);
  return absl::OkStatus();
}

absl::Status RunCopy(const BuiltinCall& call) {
  const Parameters p = call.parameters;
  const size_t rank = (p.size() - 1) / 3;
  StridedCopy(call.operands[0], p[0], p.subspan(1, rank), p.subspan(1 + rank, rank),
              p.subspan(1 + 2 * rank, rank), call.result);
  return absl::OkStatus();
}

absl::Status RunFill(const BuiltinCall& call) {
  Fill(ToDType(call.parameters[0]), call.value, call.parameters[1], call.result);
  return absl::OkStatus();
}

// What a parameter may be: 'd' a dtype, 'i' i32 or i64, 'f' f32 or bf16, 's' a size, 'e' the bytes
// of an element, 't' any number. What follows the last letter is like it.
bool Fits(char kind, int64_t value) {
  const bool dtype = value >= 0 && value < kDTypes;
  switch (kind) {
    case 'd':
      return dtype;
    case 'i':
      return dtype && (ToDType(value) == DType::kI32 || ToDType(value) == DType::kI64);
    case 'f':
      return dtype && IsFloat(ToDType(value));
    case 's':
      return value >= 0;
    case 'e':
      return value == 1 || value == 2 || value == 4 || value == 8;
    default:
      return true;
  }
}

struct Entry {
  absl::string_view name;
  Builtin run;
  int64_t operands;         // -1: one for each parameter after the first
  absl::string_view kinds;  // see Fits
  bool three_lists;         // after the first parameter: three lists of one length
};

constexpr Entry kBuiltins[] = {
    {"take", RunTake, 2, "ssis", false},
    {"scatter_add", RunScatterAdd, 2, "isfssf", false},
    {"dynamic_slice", RunDynamicSlice, 2, "ssss", false},
    {"dynamic_update_slice", RunDynamicUpdateSlice, 3, "ssss", false},
    {"argmax", RunArgmax, 1, "dsss", false},
    {"concatenate", RunConcatenate, -1, "ss", false},
    {"pad", RunPad, 1, "ds", true},
    {"copy", RunCopy, 1, "et", true},
    {"fill", RunFill, 0, "ds", false},
};

bool CountFits(const Entry& entry, Parameters parameters, int64_t operands) {
  const auto count = static_cast<int64_t>(parameters.size());
  if (entry.operands == -1) return operands >= 1 && count == operands + 1;
  if (operands != entry.operands) return false;
  if (entry.three_lists) return count >= 1 && (count - 1) % 3 == 0;
  return count == static_cast<int64_t>(entry.kinds.size());
}

}  // namespace

absl::StatusOr<Builtin> FindBuiltin(absl::string_view name, absl::Span<const int64_t> parameters,
                                    int64_t operands) {
  const auto* entry = std::find_if(std::begin(kBuiltins), std::end(kBuiltins),
                                   [&](const Entry& e) { return e.name == name; });
  if (entry == std::end(kBuiltins)) {
    return absl::InvalidArgumentError(absl::StrCat("no builtin kernel is named \"", name, "\""));
  }
  const auto error = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("builtin ", name, " with ", operands,
                                                   " operands and parameters [",
                                                   absl::StrJoin(parameters, ", "), "]: ", what));
  };
  if (!CountFits(*entry, parameters, operands)) return error("wrong number of either");
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!Fits(entry->kinds[std::min(i, entry->kinds.size() - 1)], parameters[i])) {
      return error(absl::StrCat("parameter ", i, " cannot be ", parameters[i]));
    }
  }
  return entry->run;
}

}  // namespace trencadis::kernels
