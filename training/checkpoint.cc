#include "training/checkpoint.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "models/checkpoint/safetensors.h"
#include "models/checkpoint/safetensors_writer.h"
#include "runtime/base/atomic_file.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"

namespace trencadis::training {
namespace {

using lazy::Tensor;

constexpr char kTensorsFile[] = "training_state.safetensors";
constexpr char kStateFile[] = "trainer_state.json";

// Reads the tensor from the device when its turn to be written comes.
checkpoint::TensorToWrite ToWrite(std::string name, const Tensor& tensor) {
  return {std::move(name), tensor.type(), [tensor](checkpoint::ByteSink sink) -> absl::Status {
            TRENCADIS_ASSIGN_OR_RETURN(const Literal literal, tensor.ToHost());
            return sink(literal.bytes());
          }};
}

absl::Status WriteTensors(const std::string& path, const std::vector<nn::NamedParameter>& trainable,
                          AdamW& optimizer) {
  std::vector<checkpoint::TensorToWrite> tensors;
  for (size_t i = 0; i < trainable.size(); ++i) {
    const AdamW::Moments& moments = optimizer.moments()[i];
    tensors.push_back(
        ToWrite(absl::StrCat("value.", trainable[i].name), trainable[i].parameter->value));
    tensors.push_back(ToWrite(absl::StrCat("first.", moments.name), moments.first));
    tensors.push_back(ToWrite(absl::StrCat("second.", moments.name), moments.second));
  }
  return checkpoint::WriteSafetensors(path, std::move(tensors));
}

absl::Status WriteState(const std::string& path, const TrainingState& state) {
  const nlohmann::ordered_json json = {{"global_step", state.step},
                                       {"max_steps", state.total_steps},
                                       {"total_loss", state.total_loss},
                                       {"configuration", state.configuration}};
  return WriteFileAtomically(path, json.dump(2));
}

absl::StatusOr<TrainingState> ReadState(const std::string& path) {
  TRENCADIS_ASSIGN_OR_RETURN(const std::string text, RealFileSystem().ReadFile(path));
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto has = [&](const char* key, bool (nlohmann::json::*is)() const noexcept) {
    return json.is_object() && json.contains(key) && (json[key].*is)();
  };
  if (!has("global_step", &nlohmann::json::is_number_integer) ||
      !has("max_steps", &nlohmann::json::is_number_integer) ||
      !has("total_loss", &nlohmann::json::is_number) ||
      !has("configuration", &nlohmann::json::is_string)) {
    return absl::DataLossError(
        absl::StrCat(path, " is damaged or no trainer state; continue from another checkpoint"));
  }
  return TrainingState{json["global_step"], json["max_steps"], json["total_loss"],
                       json["configuration"]};
}

absl::StatusOr<Tensor> ReadTensor(lazy::Context& context, const checkpoint::TensorSource& source,
                                  const std::string& name, const Shape& shape) {
  TRENCADIS_ASSIGN_OR_RETURN(const Literal literal, source.Read(name, DType::kF32));
  if (literal.shape() != shape) {
    return absl::FailedPreconditionError(absl::StrCat("the checkpoint's ", name, " has shape ",
                                                      literal.shape().ToString(),
                                                      "; this run's has ", shape.ToString()));
  }
  return Tensor::FromHost(context, literal);
}

}  // namespace

std::string CheckpointPath(const std::string& directory, int64_t step) {
  return JoinPath(directory, absl::StrCat(kCheckpointPrefix, step));
}

absl::Status WriteCheckpoint(
    const std::string& directory, const TrainingState& state,
    const std::vector<nn::NamedParameter>& trainable, AdamW* optimizer,
    const std::function<absl::Status(const std::string& directory)>& save_model) {
  TRENCADIS_ASSIGN_OR_RETURN(AtomicDirectory target,
                             AtomicDirectory::Create(CheckpointPath(directory, state.step)));
  const std::string& path = target.temporary_path();
  TRENCADIS_RETURN_IF_ERROR(save_model(path));
  if (optimizer != nullptr) {
    TRENCADIS_RETURN_IF_ERROR(WriteTensors(JoinPath(path, kTensorsFile), trainable, *optimizer));
    TRENCADIS_RETURN_IF_ERROR(WriteState(JoinPath(path, kStateFile), state));
  }
  return target.Commit();
}

absl::StatusOr<TrainingState> ReadCheckpoint(const std::string& checkpoint,
                                             const std::string& configuration,
                                             lazy::Context& context,
                                             const std::vector<nn::NamedParameter>& trainable,
                                             AdamW& optimizer) {
  TRENCADIS_ASSIGN_OR_RETURN(const TrainingState state,
                             ReadState(JoinPath(checkpoint, kStateFile)));
  if (state.configuration != configuration) {
    return absl::FailedPreconditionError(absl::StrCat(
        checkpoint, " was written by a run with other options.\n  there: ", state.configuration,
        "\n  here:  ", configuration));
  }
  TRENCADIS_ASSIGN_OR_RETURN(const std::unique_ptr<checkpoint::TensorSource> source,
                             checkpoint::SafetensorsFile::Open(JoinPath(checkpoint, kTensorsFile)));
  std::vector<Tensor> values, firsts, seconds;
  for (const auto& [name, parameter] : trainable) {
    const auto read = [&](absl::string_view kind) {
      return ReadTensor(context, *source, absl::StrCat(kind, ".", name), parameter->shape);
    };
    TRENCADIS_ASSIGN_OR_RETURN(values.emplace_back(), read("value"));
    TRENCADIS_ASSIGN_OR_RETURN(firsts.emplace_back(), read("first"));
    TRENCADIS_ASSIGN_OR_RETURN(seconds.emplace_back(), read("second"));
  }
  for (size_t i = 0; i < trainable.size(); ++i) {
    trainable[i].parameter->value = values[i];
    optimizer.moments()[i].first = firsts[i];
    optimizer.moments()[i].second = seconds[i];
  }
  optimizer.set_step(state.step);
  return state;
}

absl::StatusOr<std::vector<int64_t>> ListCheckpoints(const std::string& directory) {
  TRENCADIS_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                             RealFileSystem().List(directory));
  std::vector<int64_t> steps;
  for (absl::string_view name : names) {
    int64_t step = 0;
    if (absl::ConsumePrefix(&name, kCheckpointPrefix) && absl::SimpleAtoi(name, &step))
      steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

absl::Status RemoveOldCheckpoints(const std::string& directory, int64_t limit) {
  TRENCADIS_ASSIGN_OR_RETURN(const std::vector<int64_t> steps, ListCheckpoints(directory));
  const auto count = static_cast<int64_t>(steps.size());
  for (int64_t i = 0; i + limit < count; ++i) {
    TRENCADIS_RETURN_IF_ERROR(RemoveRecursively(CheckpointPath(directory, steps[i])));
  }
  return absl::OkStatus();
}

}  // namespace trencadis::training
