#include "models/checkpoint/gguf.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "models/checkpoint/file_kind.h"
#include "runtime/base/status.h"

namespace trencadis::checkpoint {
namespace {

constexpr absl::string_view kMagic = "GGUF";
constexpr absl::string_view kAlignmentKey = "general.alignment";
constexpr uint64_t kDefaultAlignment = 32;
constexpr uint32_t kMaxRank = 4;            // GGML_MAX_DIMS
constexpr size_t kMaxTensorNameBytes = 63;  // GGML_MAX_NAME - 1
// The least bytes that one key-value pair and one tensor's description take.
constexpr uint64_t kMinPairBytes = 8 + 4 + 1;
constexpr uint64_t kMinTensorInfoBytes = 8 + 4 + 4 + 8;

// ggml's tensor types (ggml_type): number, name, elements and bytes of a block.
struct TensorTypeRow {
  uint32_t number;
  absl::string_view name;
  int64_t block_elements;
  int64_t block_bytes;
  std::optional<StoredType> readable_as;
};

constexpr TensorTypeRow kTensorTypes[] = {
    {0, "F32", 1, 4, StoredType::kF32},
    {1, "F16", 1, 2, StoredType::kF16},
    {2, "Q4_0", 32, 18, StoredType::kQ4_0},
    {3, "Q4_1", 32, 20, StoredType::kQ4_1},
    {6, "Q5_0", 32, 22, StoredType::kQ5_0},
    {7, "Q5_1", 32, 24, StoredType::kQ5_1},
    {8, "Q8_0", 32, 34, StoredType::kQ8_0},
    {9, "Q8_1", 32, 36, {}},
    {10, "Q2_K", 256, 84, {}},
    {11, "Q3_K", 256, 110, {}},
    {12, "Q4_K", 256, 144, StoredType::kQ4_K},
    {13, "Q5_K", 256, 176, StoredType::kQ5_K},
    {14, "Q6_K", 256, 210, StoredType::kQ6_K},
    {15, "Q8_K", 256, 292, {}},
    {16, "IQ2_XXS", 256, 66, {}},
    {17, "IQ2_XS", 256, 74, {}},
    {18, "IQ3_XXS", 256, 98, {}},
    {19, "IQ1_S", 256, 50, {}},
    {20, "IQ4_NL", 32, 18, {}},
    {21, "IQ3_S", 256, 110, {}},
    {22, "IQ2_S", 256, 82, {}},
    {23, "IQ4_XS", 256, 136, {}},
    {24, "I8", 1, 1, {}},
    {25, "I16", 1, 2, {}},
    {26, "I32", 1, 4, StoredType::kI32},
    {27, "I64", 1, 8, StoredType::kI64},
    {28, "F64", 1, 8, StoredType::kF64},
    {29, "IQ1_M", 256, 56, {}},
    {30, "BF16", 1, 2, StoredType::kBF16},
    {34, "TQ1_0", 256, 54, {}},
    {35, "TQ2_0", 256, 66, {}},
    {39, "MXFP4", 32, 17, {}},
};

const TensorTypeRow* FindTensorType(uint32_t number) {
  for (const TensorTypeRow& row : kTensorTypes) {
    if (row.number == number) return &row;
  }
  return nullptr;
}

absl::Status CheckVersion(uint32_t version) {
  if (version == 2 || version == 3) return absl::OkStatus();
  if ((version & 0xffff) == 0) {
    return absl::UnimplementedError("the file is big-endian; only little-endian GGUF can be read");
  }
  return absl::UnimplementedError(
      absl::StrCat("GGUF version ", version, " cannot be read; versions 2 and 3 can"));
}

absl::Status CheckCount(absl::string_view what, uint64_t count, uint64_t bytes_each,
                        const GgufCursor& cursor) {
  if (count <= cursor.remaining() / bytes_each) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the header claims ", count, " ", what,
                                          "; the rest of the file has room for at most ",
                                          cursor.remaining() / bytes_each));
}

absl::StatusOr<uint64_t> Alignment(const GgufMetadata& metadata) {
  const GgufValue* value = metadata.Find(kAlignmentKey);
  if (value == nullptr) return kDefaultAlignment;
  int64_t alignment = 0;
  TRENCADIS_RETURN_IF_ERROR(metadata.Int(kAlignmentKey, alignment));
  if (value->type != GgufValueType::kU32 ||
      !std::has_single_bit(static_cast<uint64_t>(alignment))) {
    return absl::InvalidArgumentError(
        absl::StrCat(kAlignmentKey, " is ", alignment, "; wanted a power of two, of type u32"));
  }
  return static_cast<uint64_t>(alignment);
}

// The first multiple of `alignment` (a power of two) from `value` on; empty when it overflows.
std::optional<uint64_t> AlignUp(uint64_t value, uint64_t alignment) {
  if (value > std::numeric_limits<uint64_t>::max() - (alignment - 1)) return std::nullopt;
  return (value + alignment - 1) & ~(alignment - 1);
}

// Sets the type, shape and stored bytes of `info` from dimensions in the file's order.
absl::Status SetLayout(const TensorTypeRow& type, std::vector<int64_t> dims, TensorInfo& info) {
  const int64_t row_elements = dims.empty() ? 1 : dims[0];
  if (row_elements % type.block_elements != 0) {
    return absl::InvalidArgumentError(absl::StrCat("its rows of ", row_elements,
                                                   " elements are no ", "multiple of the block of ",
                                                   type.name, " (", type.block_elements, ")"));
  }
  int64_t elements = 1;
  bool overflows = false;
  for (int64_t dim : dims)
    overflows = overflows || __builtin_mul_overflow(elements, dim, &elements);
  if (overflows || __builtin_mul_overflow(elements / type.block_elements, type.block_bytes,
                                          &info.stored_bytes)) {
    return absl::InvalidArgumentError("its size overflows");
  }
  std::reverse(dims.begin(), dims.end());
  info.shape = Shape(std::move(dims));
  info.stored_as = std::string(type.name);
  if (type.readable_as) info.dtype = NaturalDType(*type.readable_as);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<GgufFile>> GgufFile::Open(const std::string& path,
                                                         const GgufOptions& options) {
  TRENCADIS_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  std::unique_ptr<GgufFile> source(new GgufFile(std::move(file)));
  source->options_ = options;
  absl::Status status = CheckNotImpostor(source->file_.bytes(), "GGUF");
  if (status.ok()) status = source->ReadHeader();
  if (!status.ok()) return Annotate(status, path);
  return source;
}

absl::Status GgufFile::ReadHeader() {
  if (!absl::StartsWith(file_.text(), kMagic)) {
    return absl::InvalidArgumentError("not a GGUF file: it does not begin with \"GGUF\"");
  }
  GgufCursor cursor(file_.bytes());
  TRENCADIS_RETURN_IF_ERROR(cursor.NextBytes(kMagic.size()).status());
  TRENCADIS_ASSIGN_OR_RETURN(const uint32_t version, cursor.Next<uint32_t>());
  TRENCADIS_RETURN_IF_ERROR(CheckVersion(version));
  TRENCADIS_ASSIGN_OR_RETURN(const uint64_t tensor_count, cursor.Next<uint64_t>());
  TRENCADIS_ASSIGN_OR_RETURN(const uint64_t pair_count, cursor.Next<uint64_t>());
  TRENCADIS_RETURN_IF_ERROR(CheckCount("metadata pairs", pair_count, kMinPairBytes, cursor));
  TRENCADIS_ASSIGN_OR_RETURN(metadata_, GgufMetadata::Parse(cursor, pair_count));
  TRENCADIS_ASSIGN_OR_RETURN(const uint64_t alignment, Alignment(metadata_));
  TRENCADIS_RETURN_IF_ERROR(CheckCount("tensors", tensor_count, kMinTensorInfoBytes, cursor));
  std::vector<Entry> entries;
  for (uint64_t i = 0; i < tensor_count; ++i) {
    TRENCADIS_ASSIGN_OR_RETURN(Entry entry, ReadTensorInfo(cursor));
    entries.push_back(std::move(entry));
  }
  return PlaceTensors(std::move(entries), alignment, cursor.position());
}

absl::StatusOr<GgufFile::Entry> GgufFile::ReadTensorInfo(GgufCursor& cursor) {
  TRENCADIS_ASSIGN_OR_RETURN(const absl::string_view name, cursor.NextString());
  if (name.size() > kMaxTensorNameBytes) {
    return absl::InvalidArgumentError(absl::StrCat("a tensor's name has ", name.size(),
                                                   " bytes; at most ", kMaxTensorNameBytes,
                                                   " are allowed"));
  }
  const auto fail = [&](absl::string_view reason) {
    return absl::InvalidArgumentError(absl::StrCat("tensor '", name, "': ", reason));
  };
  Entry entry;
  entry.info.name = std::string(name);
  TRENCADIS_ASSIGN_OR_RETURN(const uint32_t rank, cursor.Next<uint32_t>());
  if (rank > kMaxRank) return fail(absl::StrCat(rank, " dimensions; at most 4 are allowed"));
  std::vector<int64_t> dims(rank);
  for (int64_t& dim : dims) {
    TRENCADIS_ASSIGN_OR_RETURN(dim, cursor.Next<int64_t>());
    if (dim < 0) return fail("a negative dimension");
  }
  TRENCADIS_ASSIGN_OR_RETURN(const uint32_t type_number, cursor.Next<uint32_t>());
  const TensorTypeRow* type = FindTensorType(type_number);
  if (type == nullptr) return fail(absl::StrCat("unknown type ", type_number));
  TRENCADIS_RETURN_IF_ERROR(
      Annotate(SetLayout(*type, std::move(dims), entry.info), absl::StrCat("tensor '", name, "'")));
  entry.location.type = type->readable_as;
  TRENCADIS_ASSIGN_OR_RETURN(entry.location.offset_bytes, cursor.Next<uint64_t>());
  return entry;
}

absl::Status GgufFile::PlaceTensors(std::vector<Entry> entries, uint64_t alignment,
                                    uint64_t header_end) {
  const uint64_t file_bytes = file_.bytes().size();
  const std::optional<uint64_t> data_start = AlignUp(header_end, alignment);
  if (!data_start) return absl::InvalidArgumentError("the alignment overflows");
  uint64_t end = 0;  // of the tensors so far, padded, from data_start on
  for (Entry& entry : entries) {
    if (entry.location.offset_bytes != end) {
      return absl::InvalidArgumentError(absl::StrCat("tensor '", entry.info.name, "' is at offset ",
                                                     entry.location.offset_bytes,
                                                     ", but the tensors before it end at ", end));
    }
    const std::optional<uint64_t> padded = AlignUp(entry.info.stored_bytes, alignment);
    if (!padded || __builtin_add_overflow(end, *padded, &end) ||
        end > std::numeric_limits<uint64_t>::max() - *data_start) {
      return absl::InvalidArgumentError("the tensors' sizes overflow");
    }
    entry.location.offset_bytes += *data_start;
  }
  if (!options_.header_only && end > 0 && *data_start + end > file_bytes) {
    return absl::DataLossError(absl::StrCat("the tensors end at byte ", *data_start + end,
                                            " but the file at byte ", file_bytes,
                                            ": is the download complete?"));
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.info.name < b.info.name; });
  std::vector<TensorInfo> infos;
  for (Entry& entry : entries) {
    locations_.push_back(entry.location);
    infos.push_back(std::move(entry.info));
  }
  return SetTensors(std::move(infos));
}

absl::Span<const std::byte> GgufFile::StoredBytes(const TensorInfo& info) const {
  if (options_.header_only) return {};
  return file_.bytes().subspan(locations_[IndexOf(info)].offset_bytes, info.stored_bytes);
}

absl::Status GgufFile::ReadCheckedRows(const TensorInfo& info, int64_t first_row, int64_t rows,
                                       DType dtype, absl::Span<std::byte> out) const {
  if (options_.header_only) {
    return absl::FailedPreconditionError("the file was opened for its header only");
  }
  const StoredType type = *locations_[IndexOf(info)].type;
  const BlockLayout layout = LayoutOf(type);
  const int64_t row_elements =
      info.shape.rank() == 0 ? 1 : info.shape.num_elements() / info.shape.dim(0);
  const int64_t first = first_row * row_elements;
  const int64_t count = rows * row_elements;
  // Only rows of a one-dimensional tensor can cut a block.
  if (first % layout.elements != 0 || count % layout.elements != 0) {
    return absl::UnimplementedError(absl::StrCat("tensor '", info.name, "' (", info.stored_as,
                                                 ") can only be read in blocks of ",
                                                 layout.elements));
  }
  ConvertElements(type,
                  StoredBytes(info).subspan(first / layout.elements * layout.bytes,
                                            count / layout.elements * layout.bytes),
                  dtype, out);
  return absl::OkStatus();
}

}  // namespace trencadis::checkpoint
