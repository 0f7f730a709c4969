#include "training/jobs/batch_dump.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/zoo/causal_lm.h"
#include "runtime/base/status.h"

namespace trencadis::training {
namespace {

using Json = nlohmann::ordered_json;

Json ToRows(const Literal& literal) {
  Json rows = Json::array();
  const int64_t length = literal.shape().dim(1);
  for (int64_t row = 0; row < literal.shape().dim(0); ++row) {
    const auto values = literal.data<int32_t>().subspan(row * length, length);
    rows.push_back(std::vector<int32_t>(values.begin(), values.end()));
  }
  return rows;
}

// Labels back at the positions of the tokens that they are.
Literal Unshifted(const Literal& labels) {
  Literal result(labels.type());
  const int64_t length = labels.shape().dim(1);
  for (int64_t i = 0; i < labels.num_elements(); ++i) {
    result.data<int32_t>()[i] =
        i % length == 0 ? static_cast<int32_t>(zoo::kIgnoredLabel) : labels.data<int32_t>()[i - 1];
  }
  return result;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BatchDump>> BatchDump::Create(const std::string& path) {
  TRENCADIS_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file,
                             RealFileSystem().OpenForWrite(path));
  return std::unique_ptr<BatchDump>(new BatchDump(std::move(file)));
}

absl::Status BatchDump::Append(int64_t step, absl::Span<const HostBatch> micro_batches) {
  for (size_t micro = 0; micro < micro_batches.size(); ++micro) {
    const HostBatch& batch = micro_batches[micro];
    Json json = {{"step", step},
                 {"micro", micro},
                 {"input_ids", ToRows(batch.ids)},
                 {"labels", ToRows(Unshifted(batch.labels))}};
    if (batch.segments.has_value()) json["segment_ids"] = ToRows(*batch.segments);
    if (batch.positions.has_value()) json["position_ids"] = ToRows(*batch.positions);
    TRENCADIS_RETURN_IF_ERROR(file_->Append(absl::StrCat(json.dump(), "\n")));
  }
  return absl::OkStatus();
}

}  // namespace trencadis::training
