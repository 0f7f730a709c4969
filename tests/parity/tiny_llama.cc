#include "tests/parity/tiny_llama.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "models/checkpoint/model_directory.h"
#include "models/checkpoint/peft.h"
#include "models/checkpoint/safetensors.h"
#include "models/zoo/load_model.h"
#include "training/data/dataset.h"

namespace trencadis::parity {
namespace {

constexpr char kRoot[] = "tests/golden/tiny_llama/";

template <typename T>
T Value(absl::StatusOr<T> value) {
  if (!value.ok()) ADD_FAILURE() << value.status();
  TRENCADIS_CHECK(value.ok());
  return *std::move(value);
}

void CheckOk(const absl::Status& status) {
  if (!status.ok()) ADD_FAILURE() << status;
  TRENCADIS_CHECK(status.ok());
}

}  // namespace

nlohmann::json ReadGolden(const std::string& name) {
  std::ifstream file(absl::StrCat(kRoot, name));
  TRENCADIS_CHECK(file.good());
  return nlohmann::json::parse(file);
}

std::unique_ptr<checkpoint::TensorSource> OpenGolden(const std::string& name) {
  return Value(checkpoint::SafetensorsFile::Open(absl::StrCat(kRoot, name)));
}

Literal ToLiteral(const nlohmann::json& rows) {
  const auto values = rows.get<std::vector<std::vector<int32_t>>>();
  std::vector<int32_t> flat;
  for (const auto& row : values) flat.insert(flat.end(), row.begin(), row.end());
  const Shape shape{static_cast<int64_t>(values.size()), static_cast<int64_t>(values[0].size())};
  return Literal::FromVector<int32_t>(shape, flat);
}

training::HostBatch ToBatch(const nlohmann::json& batch) {
  const auto ids = batch["input_ids"].get<std::vector<std::vector<int32_t>>>();
  const auto labels = batch["labels"].get<std::vector<std::vector<int32_t>>>();
  std::vector<training::Example> examples;
  for (size_t row = 0; row < ids.size(); ++row) examples.push_back({ids[row], labels[row], {}, {}});
  std::vector<const training::Example*> pointers;
  for (const training::Example& example : examples) pointers.push_back(&example);
  return training::Collate(pointers, 0, {});
}

TinyLlama::TinyLlama(const TinyLlamaOptions& options)
    : options_(options),
      device_(Value(FindDeviceSpec("cpu")), codegen::Target::Host()),
      context_(&device_, &recipes_, {.max_compound_ops = options.max_compound_ops}) {
  const std::string directory = absl::StrCat(kRoot, options.variant);
  const auto source = Value(checkpoint::OpenModel(absl::StrCat(directory, "/model")));
  model_ = Value(zoo::CreateCausalLm(source.config));
  const std::vector<nn::NamedParameter> base = model_->Parameters();
  if (options.lora) {
    const auto adapter =
        Value(checkpoint::OpenPeftAdapter(absl::StrCat(directory, "/adapter_", options.adapter)));
    lora_ = Value(adapters::AddLora(
        *model_, {adapter.config.r, adapter.config.lora_alpha, 0.0, adapter.modules}));
    CheckOk(zoo::LoadParameters(context_, adapters::LoraParameters(lora_), *adapter.tensors,
                                options.compute));
  }
  CheckOk(zoo::LoadParameters(context_, base, *source.tensors, options.compute));
}

nlohmann::json TinyLlama::Golden(const std::string& file) const {
  return ReadGolden(absl::StrCat(options_.variant, "/", file));
}

std::unique_ptr<checkpoint::TensorSource> TinyLlama::Tensors(const std::string& file) const {
  return OpenGolden(absl::StrCat(options_.variant, "/", file));
}

std::vector<nn::NamedParameter> TinyLlama::Trainable() {
  return options_.lora ? adapters::LoraParameters(lora_) : model_->Parameters();
}

lazy::Tensor TinyLlama::ToDevice(const Literal& literal) {
  return lazy::Tensor::FromHost(context_, literal);
}

Literal TinyLlama::Logits(const zoo::TokenBatch& batch) {
  nn::ForwardMode mode;
  mode.compute = options_.compute;
  return Value(model_->Logits(model_->Hidden(batch, mode), mode).ToHost());
}

double MaxDifference(const Literal& a, const Literal& b) {
  TRENCADIS_CHECK(a.shape() == b.shape());
  double largest = 0;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const double difference = std::abs(a.AsDouble(i) - b.AsDouble(i));
    largest = std::isnan(difference) ? difference : std::max(largest, difference);
    if (std::isnan(largest)) return largest;
  }
  return largest;
}

double RelativeNorm(const Literal& a, const Literal& b) {
  TRENCADIS_CHECK(a.shape() == b.shape());
  double difference = 0, norm = 0;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    difference += std::pow(a.AsDouble(i) - b.AsDouble(i), 2);
    norm += std::pow(b.AsDouble(i), 2);
  }
  return std::sqrt(difference / norm);
}

}  // namespace trencadis::parity
