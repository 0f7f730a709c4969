#include "runtime/recipe/recipe.h"

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "runtime/base/status.h"
#include "runtime/recipe/verifier.h"

namespace trencadis::recipe {
namespace {

constexpr int64_t kMaxTensorBytes = int64_t{1} << 48;
constexpr int kMaxRank = 8;

}  // namespace

TensorTypeProto ToProto(const TensorType& type) {
  TensorTypeProto proto;
  proto.set_dtype(static_cast<uint32_t>(type.dtype));
  for (int64_t dim : type.shape.dims()) proto.add_dims(dim);
  return proto;
}

absl::StatusOr<DType> DTypeFromProto(uint32_t dtype) {
  if (dtype > static_cast<uint32_t>(DType::kU8)) {
    return absl::InvalidArgumentError(absl::StrCat("dtype ", dtype, " is unknown"));
  }
  return static_cast<DType>(dtype);
}

absl::StatusOr<TensorType> FromProto(const TensorTypeProto& proto) {
  TRENCADIS_ASSIGN_OR_RETURN(const DType dtype, DTypeFromProto(proto.dtype()));
  if (proto.dims_size() > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor has rank ", proto.dims_size(), "; at most ", kMaxRank));
  }
  int64_t bytes = ByteSize(dtype);
  for (int64_t dim : proto.dims()) {
    // Bounding each dimension too keeps an empty tensor's strides from overflowing.
    if (dim < 0 || dim > kMaxTensorBytes || (dim > 0 && bytes > kMaxTensorBytes / dim)) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensor dimension ", dim, " is negative or too large"));
    }
    bytes *= dim;
  }
  return TensorType{dtype, Shape(std::vector<int64_t>(proto.dims().begin(), proto.dims().end()))};
}

std::string SerializeRecipe(const RecipeProto& recipe) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  recipe.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

absl::StatusOr<RecipeProto> ParseRecipe(absl::string_view bytes) {
  RecipeProto recipe;
  if (!recipe.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError(
        absl::StrCat("recipe of ", bytes.size(), " bytes cannot be read; compile it anew"));
  }
  TRENCADIS_RETURN_IF_ERROR(VerifyRecipe(recipe));
  return recipe;
}

}  // namespace trencadis::recipe
