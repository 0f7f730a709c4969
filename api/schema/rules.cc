#include "api/schema/rules.h"

#include <cmath>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/schema/catalog.h"
#include "api/schema/defaults.h"
#include "api/schema/value_text.h"
#include "runtime/base/status.h"

namespace trencadis::schema {
namespace {

using google::protobuf::Message;

// The options of one tool by name, with defaults applied, and the violations found so far.
class Options {
 public:
  Options(const Catalog& catalog, const Message& given) : catalog_(catalog) {
    resolved_.reset(given.New());
    resolved_->CopyFrom(given);
    ApplyDefaults(resolved_.get());
  }

  // Whether the tool has all of them; a rule that asks for less does not apply.
  bool Have(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      if (catalog_.Find(name) == nullptr) return false;
    }
    return true;
  }

  // Whether the option has a value, be it given or the default.
  bool IsSet(const char* name) const {
    const Option* option = catalog_.Find(name);
    return option != nullptr && option->IsSet(*resolved_);
  }

  std::string Text(const char* name) const {
    const Option* option = catalog_.Find(name);
    if (option == nullptr || !option->IsSet(*resolved_)) return "";
    return ValuesAsText(*option->Find(*resolved_), option->field())[0];
  }

  bool Bool(const char* name) const { return Text(name) == "true"; }

  // 0 where unset.
  double Number(const char* name) const {
    double value = 0;
    return absl::SimpleAtod(Text(name), &value) ? value : 0;
  }

  void Blame(const char* name, std::string problem) {
    const Option* option = catalog_.Find(name);
    TRENCADIS_CHECK(option != nullptr);
    violations.push_back({option->JsonPath(), absl::StrCat("--", name), std::move(problem)});
  }

  std::vector<Violation> violations;

 private:
  const Catalog& catalog_;
  std::unique_ptr<Message> resolved_;
};

// GaudiTrainingArguments.__post_init__: intervals above one step are whole numbers of steps.
void CheckIntervals(Options* options) {
  struct Interval {
    const char* strategy;
    const char* steps;
  };
  for (const Interval& interval :
       {Interval{"logging_strategy", "logging_steps"}, Interval{"eval_strategy", "eval_steps"},
        Interval{"save_strategy", "save_steps"}}) {
    if (!options->Have({interval.strategy, interval.steps})) continue;
    if (options->Text(interval.strategy) != "steps") continue;
    const double steps = options->Number(interval.steps);
    if (steps > 1 && steps != std::floor(steps)) {
      options->Blame(interval.steps, absl::StrCat("got ", FormatDouble(steps),
                                                  ", wanted a whole number of steps, or a part of "
                                                  "all steps below 1"));
    }
    // --eval_steps falls back to --logging_steps.
    const bool borrowed = interval.steps == std::string("eval_steps");
    if (steps == 0 && !(borrowed && options->Number("logging_steps") > 0)) {
      options->Blame(interval.steps,
                     absl::StrCat("got 0, wanted more with --", interval.strategy, " steps; use --",
                                  interval.strategy, " no for never"));
    }
  }
}

void CheckHpuGraphs(Options* options) {
  if (!options->Have({"use_habana", "use_lazy_mode"})) return;
  bool graphs = false;
  for (const char* name :
       {"use_hpu_graphs", "use_hpu_graphs_for_inference", "use_hpu_graphs_for_training"}) {
    if (!options->Bool(name)) continue;
    graphs = true;
    if (!options->Bool("use_habana") && options->Have({"gaudi_config_name"})) {
      options->Blame(name, "cannot be used without --use_habana; add it");
    }
    if (!options->Bool("use_lazy_mode") && !options->IsSet("torch_compile_backend")) {
      options->Blame(name, "cannot be used in eager mode; use --use_lazy_mode true");
    }
  }
  if (options->IsSet("gaudi_config_name") && !options->Bool("use_habana")) {
    options->Blame("gaudi_config_name", "cannot be used without --use_habana; add it");
  }
  if (options->Bool("disable_tensor_cache_hpu_graphs") && !graphs) {
    options->Blame("disable_tensor_cache_hpu_graphs",
                   "means nothing without HPU graphs; add --use_hpu_graphs_for_training or leave "
                   "the flag out");
  }
  if (options->IsSet("max_hpu_graphs") && !graphs) {
    options->Blame("max_hpu_graphs",
                   "means nothing without HPU graphs; add --use_hpu_graphs_for_training or leave "
                   "the flag out");
  }
}

void CheckModel(Options* options) {
  if (!options->Have({"model_name_or_path", "config_name"})) return;
  if (!options->IsSet("model_name_or_path") && !options->IsSet("config_name")) {
    options->Blame("model_name_or_path",
                   "is missing; name a model directory or GGUF file, or train a new model with "
                   "--config_name");
  }
}

void CheckTask(Options* options) {
  if (!options->Have({"do_train", "do_eval", "eval_strategy", "train_file", "validation_file",
                      "dataset_name", "validation_split_percentage"})) {
    return;
  }
  const bool train = options->Bool("do_train");
  const bool evaluate = options->Bool("do_eval") || options->Text("eval_strategy") != "no";
  if (!train && !evaluate) {
    options->Blame("do_train", "there is nothing to do; add --do_train, --do_eval or both");
    return;
  }
  const bool train_data = options->IsSet("train_file") || options->IsSet("dataset_name");
  if (train && !train_data) {
    options->Blame("train_file", "is missing; --do_train needs it or --dataset_name");
  }
  if (train && options->Number("max_steps") <= 0 && options->Number("num_train_epochs") == 0) {
    options->Blame("num_train_epochs", "got 0, wanted more, or a positive --max_steps");
  }
  const bool split = train_data && options->Number("validation_split_percentage") > 0;
  if (evaluate && !options->IsSet("validation_file") && !options->IsSet("dataset_name") && !split) {
    options->Blame("validation_file",
                   "is missing; evaluation needs it, or a --validation_split_percentage above 0 of "
                   "the training data");
  }
}

}  // namespace

std::vector<Violation> BrokenRules(const Message& tool) {
  const absl::StatusOr<const Catalog*> catalog = Catalog::Of(tool.GetDescriptor());
  // A tool whose flags clash has no rules; flags and help report the clash.
  if (!catalog.ok()) return {};
  Options options(**catalog, tool);
  CheckModel(&options);
  CheckTask(&options);
  CheckIntervals(&options);
  CheckHpuGraphs(&options);
  return std::move(options.violations);
}

}  // namespace trencadis::schema
