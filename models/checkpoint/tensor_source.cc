#include "models/checkpoint/tensor_source.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace trencadis::checkpoint {
namespace {

int64_t RowCount(const Shape& shape) { return shape.rank() == 0 ? 1 : shape.dim(0); }

int64_t ElementsPerRow(const Shape& shape) {
  int64_t elements = 1;
  for (int axis = 1; axis < shape.rank(); ++axis) elements *= shape.dim(axis);
  return elements;
}

absl::Status CheckReadable(const TensorInfo& info, DType dtype) {
  if (!info.dtype) {
    return absl::UnimplementedError(absl::StrCat("tensor '", info.name, "' is stored as ",
                                                 info.stored_as, ", which cannot be read"));
  }
  if (*info.dtype != dtype && !(IsFloat(*info.dtype) && IsFloat(dtype))) {
    return absl::InvalidArgumentError(absl::StrCat("tensor '", info.name, "' is stored as ",
                                                   info.stored_as, " and cannot be read as ",
                                                   DTypeName(dtype)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status TensorSource::SetTensors(std::vector<TensorInfo> tensors) {
  std::sort(tensors.begin(), tensors.end(),
            [](const TensorInfo& a, const TensorInfo& b) { return a.name < b.name; });
  for (size_t i = 1; i < tensors.size(); ++i) {
    if (tensors[i - 1].name == tensors[i].name) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensor '", tensors[i].name, "' is listed twice"));
    }
  }
  tensors_ = std::move(tensors);
  return absl::OkStatus();
}

const TensorInfo* TensorSource::Find(absl::string_view name) const {
  auto it = std::lower_bound(
      tensors_.begin(), tensors_.end(), name,
      [](const TensorInfo& info, absl::string_view wanted) { return info.name < wanted; });
  return it != tensors_.end() && it->name == name ? &*it : nullptr;
}

absl::StatusOr<const TensorInfo*> TensorSource::Get(absl::string_view name) const {
  if (const TensorInfo* info = Find(name)) return info;
  const std::string held =
      tensors_.empty() ? "no tensors"
                       : absl::StrCat(tensors_.size(), " tensors, from '", tensors_.front().name,
                                      "' to '", tensors_.back().name, "'");
  return absl::NotFoundError(absl::StrCat("tensor '", name, "' is missing; there are ", held));
}

absl::StatusOr<Literal> TensorSource::Read(absl::string_view name) const {
  TRENCADIS_ASSIGN_OR_RETURN(const TensorInfo* info, Get(name));
  return Read(name, info->dtype.value_or(DType::kF32));
}

absl::StatusOr<Literal> TensorSource::Read(absl::string_view name, DType dtype) const {
  TRENCADIS_ASSIGN_OR_RETURN(const TensorInfo* info, Get(name));
  TRENCADIS_RETURN_IF_ERROR(CheckReadable(*info, dtype));
  Literal literal({dtype, info->shape});
  TRENCADIS_RETURN_IF_ERROR(ReadRows(*info, 0, RowCount(info->shape), dtype, literal.bytes()));
  return literal;
}

absl::Status TensorSource::ReadInto(absl::string_view name, DType dtype,
                                    absl::Span<std::byte> out) const {
  TRENCADIS_ASSIGN_OR_RETURN(const TensorInfo* info, Get(name));
  return ReadRows(*info, 0, RowCount(info->shape), dtype, out);
}

absl::Status TensorSource::ReadRowsInto(absl::string_view name, int64_t first_row, int64_t rows,
                                        DType dtype, absl::Span<std::byte> out) const {
  TRENCADIS_ASSIGN_OR_RETURN(const TensorInfo* info, Get(name));
  return ReadRows(*info, first_row, rows, dtype, out);
}

absl::Status TensorSource::ReadRows(const TensorInfo& info, int64_t first_row, int64_t rows,
                                    DType dtype, absl::Span<std::byte> out) const {
  TRENCADIS_RETURN_IF_ERROR(CheckReadable(info, dtype));
  const int64_t row_count = RowCount(info.shape);
  if (first_row < 0 || rows < 0 || first_row > row_count || rows > row_count - first_row) {
    return absl::OutOfRangeError(absl::StrCat("tensor '", info.name, "' has ", row_count,
                                              " rows; asked for ", rows, " from row ", first_row));
  }
  const int64_t wanted_bytes = rows * ElementsPerRow(info.shape) * ByteSize(dtype);
  if (static_cast<int64_t>(out.size()) != wanted_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("reading ", rows, " rows of tensor '", info.name,
                                                   "' as ", DTypeName(dtype), " needs ",
                                                   wanted_bytes, " bytes; got ", out.size()));
  }
  if (wanted_bytes == 0) return absl::OkStatus();
  return ReadCheckedRows(info, first_row, rows, dtype, out);
}

}  // namespace trencadis::checkpoint
