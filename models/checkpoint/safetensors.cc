#include "models/checkpoint/safetensors.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "models/checkpoint/file_kind.h"
#include "models/checkpoint/safetensors_header.h"
#include "runtime/base/status.h"

namespace trencadis::checkpoint {
namespace {

constexpr int64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;

struct DTypeRow {
  absl::string_view name;
  int bits;
  std::optional<StoredType> type;
};

constexpr DTypeRow kDTypes[] = {
    {"BOOL", 8, StoredType::kBool},
    {"U8", 8, StoredType::kU8},
    {"I8", 8, {}},
    {"F4", 4, {}},
    {"F6_E2M3", 6, {}},
    {"F6_E3M2", 6, {}},
    {"F8_E5M2", 8, {}},
    {"F8_E4M3", 8, {}},
    {"F8_E8M0", 8, {}},
    {"I16", 16, {}},
    {"U16", 16, {}},
    {"F16", 16, StoredType::kF16},
    {"BF16", 16, StoredType::kBF16},
    {"I32", 32, StoredType::kI32},
    {"U32", 32, {}},
    {"F32", 32, StoredType::kF32},
    {"C64", 64, {}},
    {"F64", 64, StoredType::kF64},
    {"I64", 64, StoredType::kI64},
    {"U64", 64, {}},
};

const DTypeRow* FindDType(absl::string_view name) {
  for (const DTypeRow& row : kDTypes) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

// Bytes of a tensor, or an error when they overflow or are not whole.
absl::StatusOr<int64_t> TensorBytes(const SafetensorsEntry& entry, const DTypeRow& dtype) {
  int64_t bits = dtype.bits;
  for (int64_t dim : entry.shape) {
    if (__builtin_mul_overflow(bits, dim, &bits)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the shape of tensor '", entry.name, "' overflows"));
    }
  }
  if (bits % 8 != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor '", entry.name, "' does not fill whole bytes"));
  }
  return bits / 8;
}

absl::Status CheckEntry(const SafetensorsEntry& entry, int64_t expected_begin) {
  const DTypeRow* dtype = FindDType(entry.dtype);
  if (dtype == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor '", entry.name, "' has the unknown dtype '", entry.dtype, "'"));
  }
  if (entry.begin != expected_begin || entry.end < entry.begin) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor '", entry.name, "' lies at bytes ", entry.begin, " to ", entry.end,
                     ", but the tensors before it end at ", expected_begin));
  }
  TRENCADIS_ASSIGN_OR_RETURN(const int64_t bytes, TensorBytes(entry, *dtype));
  if (bytes != entry.end - entry.begin) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor '", entry.name, "' (", entry.dtype, Shape(entry.shape).ToString(),
                     ") needs ", bytes, " bytes, but its offsets hold ", entry.end - entry.begin));
  }
  return absl::OkStatus();
}

// The header's text: what the first 8 bytes (little-endian length) delimit.
absl::StatusOr<absl::string_view> HeaderText(absl::string_view file) {
  if (file.size() < kLengthBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the file has only ", file.size(),
                     " bytes; a safetensors file begins with 8 bytes of length"));
  }
  uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  if (length > kMaxHeaderBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the header claims ", length,
                     " bytes (at most 100000000 are allowed): not a safetensors file"));
  }
  if (length > file.size() - kLengthBytes) {
    return absl::DataLossError(
        absl::StrCat("the header has ", length, " bytes but the file ends after ",
                     file.size() - kLengthBytes, " of them: is the download complete?"));
  }
  return file.substr(kLengthBytes, length);
}

}  // namespace

absl::StatusOr<std::unique_ptr<SafetensorsFile>> SafetensorsFile::Open(const std::string& path) {
  TRENCADIS_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  std::unique_ptr<SafetensorsFile> source(new SafetensorsFile(std::move(file)));
  absl::Status status = CheckNotImpostor(source->file_.bytes(), "safetensors");
  if (status.ok()) status = source->ReadHeader();
  if (!status.ok()) return Annotate(status, path);
  return source;
}

absl::Status SafetensorsFile::ReadHeader() {
  TRENCADIS_ASSIGN_OR_RETURN(const absl::string_view text, HeaderText(file_.text()));
  TRENCADIS_ASSIGN_OR_RETURN(SafetensorsHeader header, ParseSafetensorsHeader(text));
  metadata_ = std::move(header.metadata);
  const int64_t data_start = kLengthBytes + static_cast<int64_t>(text.size());
  std::vector<SafetensorsEntry>& entries = header.entries;
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  int64_t end = 0;
  for (const SafetensorsEntry& entry : entries) {
    TRENCADIS_RETURN_IF_ERROR(CheckEntry(entry, end));
    end = entry.end;
  }
  const int64_t held = static_cast<int64_t>(file_.bytes().size()) - data_start;
  if (end > held) {
    return absl::DataLossError(absl::StrCat("the tensors need ", end, " bytes but the file holds ",
                                            held, " of them: is the download complete?"));
  }
  if (end < held) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are ", held - end, " bytes after the last tensor"));
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  std::vector<TensorInfo> infos;
  for (SafetensorsEntry& entry : entries) {
    const std::optional<StoredType> type = FindDType(entry.dtype)->type;
    ranges_.push_back({type, data_start + entry.begin});
    infos.push_back({.name = std::move(entry.name),
                     .shape = Shape(std::move(entry.shape)),
                     .stored_as = std::move(entry.dtype),
                     .dtype = type ? std::optional<DType>(NaturalDType(*type)) : std::nullopt,
                     .stored_bytes = entry.end - entry.begin});
  }
  return SetTensors(std::move(infos));
}

absl::Status SafetensorsFile::ReadCheckedRows(const TensorInfo& info, int64_t first_row,
                                              int64_t rows, DType dtype,
                                              absl::Span<std::byte> out) const {
  const StoredRange& range = ranges_[IndexOf(info)];
  const int64_t row_bytes =
      info.shape.rank() == 0 ? info.stored_bytes : info.stored_bytes / info.shape.dim(0);
  ConvertElements(
      *range.type,
      file_.bytes().subspan(range.offset_bytes + first_row * row_bytes, rows * row_bytes), dtype,
      out);
  return absl::OkStatus();
}

}  // namespace trencadis::checkpoint
