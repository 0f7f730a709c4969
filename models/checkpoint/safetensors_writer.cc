#include "models/checkpoint/safetensors_writer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/base/atomic_file.h"
#include "runtime/base/status.h"

namespace trencadis::checkpoint {
namespace {

// The format's name for a dtype, and its place in the order the reference implementation sorts by.
struct StoredDType {
  absl::string_view name;
  int rank;
};

StoredDType StoredDTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return {"BOOL", 0};
    case DType::kU8:
      return {"U8", 1};
    case DType::kBF16:
      return {"BF16", 2};
    case DType::kI32:
      return {"I32", 3};
    case DType::kF32:
      return {"F32", 4};
    case DType::kI64:
      return {"I64", 5};
  }
  TRENCADIS_CHECK(false && "not a DType");
}

absl::Status SortAndCheckNames(std::vector<TensorToWrite>& tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorToWrite& a, const TensorToWrite& b) {
    const int rank_a = StoredDTypeOf(a.type.dtype).rank;
    const int rank_b = StoredDTypeOf(b.type.dtype).rank;
    return rank_a != rank_b ? rank_a > rank_b : a.name < b.name;
  });
  std::vector<absl::string_view> names = {"__metadata__"};  // taken by the format
  for (const TensorToWrite& tensor : tensors) names.push_back(tensor.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) {
    return absl::InvalidArgumentError(absl::StrCat("two tensors are named '", *twice, "'"));
  }
  return absl::OkStatus();
}

// The length field and the header. ordered_json keeps the order that readers of the raw bytes see.
std::string HeaderBytes(const std::vector<TensorToWrite>& tensors) {
  nlohmann::ordered_json header;
  header["__metadata__"] = {{"format", "pt"}};
  int64_t offset = 0;
  for (const TensorToWrite& tensor : tensors) {
    const int64_t end = offset + tensor.type.byte_size();
    nlohmann::ordered_json entry;
    entry["dtype"] = std::string(StoredDTypeOf(tensor.type.dtype).name);
    entry["shape"] = tensor.type.shape.dims();
    entry["data_offsets"] = {offset, end};
    header[tensor.name] = std::move(entry);
    offset = end;
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes + text;
}

absl::Status WriteTensor(const TensorToWrite& tensor, AtomicFileWriter& out) {
  int64_t written = 0;
  TRENCADIS_RETURN_IF_ERROR(tensor.write([&](absl::Span<const std::byte> bytes) {
    written += bytes.size();
    return out.Append(bytes);
  }));
  if (written != tensor.type.byte_size()) {
    return absl::InternalError(absl::StrCat("tensor '", tensor.name, "' gave ", written,
                                            " bytes; its type ", tensor.type.ToString(), " has ",
                                            tensor.type.byte_size()));
  }
  return absl::OkStatus();
}

}  // namespace

TensorToWrite ToWrite(std::string name, const Literal& literal) {
  return {std::move(name), literal.type(),
          [&literal](ByteSink sink) { return sink(literal.bytes()); }};
}

absl::Status WriteSafetensors(const std::string& path, std::vector<TensorToWrite> tensors,
                              FileSystem& fs) {
  TRENCADIS_RETURN_IF_ERROR(SortAndCheckNames(tensors));
  TRENCADIS_ASSIGN_OR_RETURN(AtomicFileWriter out, AtomicFileWriter::Create(path, fs));
  TRENCADIS_RETURN_IF_ERROR(out.Append(HeaderBytes(tensors)));
  for (const TensorToWrite& tensor : tensors) TRENCADIS_RETURN_IF_ERROR(WriteTensor(tensor, out));
  return out.Commit();
}

}  // namespace trencadis::checkpoint
