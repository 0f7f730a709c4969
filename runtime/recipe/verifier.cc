#include "runtime/recipe/verifier.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/recipe/byte_set.h"
#include "runtime/recipe/object_symbols.h"
#include "runtime/recipe/recipe.h"
#include "runtime/recipe/step_checks.h"

namespace trencadis::recipe {
namespace {

constexpr uint64_t kMaxArenaBytes = uint64_t{1} << 48;

template <typename... Args>
absl::Status Invalid(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat("recipe: ", args...));
}

bool Overlap(const BufferSlice& a, const BufferSlice& b) {
  return a.space() == b.space() && a.index() == b.index() && a.offset() < b.offset() + b.bytes() &&
         b.offset() < a.offset() + a.bytes();
}

class Verifier {
 public:
  explicit Verifier(const RecipeProto& recipe) : recipe_(recipe) {}

  absl::Status Run() {
    TRENCADIS_RETURN_IF_ERROR(CheckHeader());
    TRENCADIS_RETURN_IF_ERROR(CheckOwnership());
    TRENCADIS_RETURN_IF_ERROR(CheckPrepared());
    TRENCADIS_RETURN_IF_ERROR(CollectSymbols());
    for (int i = 0; i < recipe_.steps_size(); ++i) {
      const Step& step = recipe_.steps(i);
      TRENCADIS_RETURN_IF_ERROR(
          Annotate(CheckStep(step), absl::StrCat("step ", i, " (", step.label(), ")")));
    }
    TRENCADIS_RETURN_IF_ERROR(CheckOutputsWritten());
    return CheckPlan();
  }

 private:
  absl::Status CheckHeader();
  absl::Status CheckOwnership();
  absl::Status CheckPrepared();
  absl::Status CollectSymbols();
  absl::Status CheckStep(const Step& step);
  absl::Status CheckSlice(const BufferSlice& slice) const;
  absl::Status CheckRead(const BufferSlice& slice) const;
  absl::Status CheckWritable(const BufferSlice& slice) const;
  absl::Status CheckNoOverlap(const Step& step) const;
  absl::Status CheckOutputsWritten() const;
  absl::Status CheckPlan() const;

  const RecipeProto& recipe_;
  std::vector<uint64_t> input_bytes_;
  std::vector<uint64_t> output_bytes_;
  std::vector<bool> donated_;         // per input
  std::vector<bool> passed_through_;  // per output
  absl::flat_hash_set<std::string> symbols_;
  ByteSet arena_written_;
  std::vector<ByteSet> output_written_;
};

absl::Status Verifier::CheckHeader() {
  if (recipe_.version() != kRecipeVersion) {
    return Invalid("version ", recipe_.version(), "; this build reads ", kRecipeVersion);
  }
  if (recipe_.target().empty()) return Invalid("no target");
  for (const TensorTypeProto& input : recipe_.inputs()) {
    TRENCADIS_ASSIGN_OR_RETURN(const TensorType type, FromProto(input));
    input_bytes_.push_back(type.byte_size());
  }
  for (const TensorTypeProto& output : recipe_.outputs()) {
    TRENCADIS_ASSIGN_OR_RETURN(const TensorType type, FromProto(output));
    output_bytes_.push_back(type.byte_size());
  }
  if (recipe_.arena_bytes() > kMaxArenaBytes) {
    return Invalid("arena of ", recipe_.arena_bytes(), " bytes; at most 2^48 are possible");
  }
  if (recipe_.arena_alignment() != kArenaAlignment) {
    return Invalid("arena alignment ", recipe_.arena_alignment(), "; wanted ", kArenaAlignment);
  }
  return absl::OkStatus();
}

// Each output has one owner of its storage: itself, a donated input, or an input passed through.
absl::Status Verifier::CheckOwnership() {
  donated_.assign(input_bytes_.size(), false);
  passed_through_.assign(output_bytes_.size(), false);
  output_written_.resize(output_bytes_.size());
  std::vector<bool> input_used(input_bytes_.size(), false);
  std::vector<bool> output_used(output_bytes_.size(), false);
  const auto check = [&](const Donation& pair, absl::string_view what) -> absl::Status {
    if (pair.input() >= input_bytes_.size() || pair.output() >= output_bytes_.size()) {
      return Invalid(what, " of input ", pair.input(), " to output ", pair.output(),
                     ": no such argument");
    }
    if (input_bytes_[pair.input()] != output_bytes_[pair.output()]) {
      return Invalid(what, " of input ", pair.input(), " (", input_bytes_[pair.input()],
                     " bytes) to output ", pair.output(), " (", output_bytes_[pair.output()],
                     " bytes): sizes differ");
    }
    if (input_used[pair.input()] || output_used[pair.output()]) {
      return Invalid(what, " of input ", pair.input(), " to output ", pair.output(),
                     ": one of them is already taken");
    }
    input_used[pair.input()] = output_used[pair.output()] = true;
    return absl::OkStatus();
  };
  for (const Donation& pair : recipe_.donations()) {
    TRENCADIS_RETURN_IF_ERROR(check(pair, "donation"));
    donated_[pair.input()] = true;
    output_written_[pair.output()].Add(0, output_bytes_[pair.output()]);
  }
  for (const Donation& pair : recipe_.passed_through()) {
    TRENCADIS_RETURN_IF_ERROR(check(pair, "passing through"));
    passed_through_[pair.output()] = true;
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckPrepared() {
  for (const Prepared& prepared : recipe_.prepared()) {
    if (prepared.input() >= input_bytes_.size()) {
      return Invalid("packed copy of input ", prepared.input(), ": no such argument");
    }
    if (donated_[prepared.input()]) {
      return Invalid("packed copy of input ", prepared.input(), ", which is donated");
    }
    if (prepared.bytes() > kMaxArenaBytes) {
      return Invalid("packed copy of ", prepared.bytes(), " bytes; at most 2^48 are possible");
    }
    TRENCADIS_ASSIGN_OR_RETURN(const MatMulBytes bytes, CheckMatMul(prepared.matmul()));
    if (bytes.b != input_bytes_[prepared.input()]) {
      return Invalid("packed copy of input ", prepared.input(), ": product wants ", bytes.b,
                     " bytes, the input has ", input_bytes_[prepared.input()]);
    }
  }
  return absl::OkStatus();
}

absl::Status Verifier::CollectSymbols() {
  for (const std::string& object : recipe_.objects()) {
    TRENCADIS_ASSIGN_OR_RETURN(const std::vector<std::string> names, DefinedFunctions(object));
    for (const std::string& name : names) {
      if (!symbols_.insert(name).second) return Invalid("symbol ", name, " is defined twice");
    }
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckSlice(const BufferSlice& slice) const {
  uint64_t size = 0;
  const auto pick = [&](const auto& sizes, absl::string_view what) -> absl::Status {
    if (slice.index() >= static_cast<uint64_t>(sizes.size())) {
      return Invalid(what, " ", slice.index(), " does not exist");
    }
    size = sizes[slice.index()];
    return absl::OkStatus();
  };
  switch (slice.space()) {
    case BufferSlice::ARENA:
      size = recipe_.arena_bytes();
      break;
    case BufferSlice::INPUT:
      TRENCADIS_RETURN_IF_ERROR(pick(input_bytes_, "input"));
      break;
    case BufferSlice::OUTPUT:
      TRENCADIS_RETURN_IF_ERROR(pick(output_bytes_, "output"));
      break;
    case BufferSlice::CONSTANT:
      size = recipe_.constants().size();
      break;
    case BufferSlice::PREPARED:
      if (slice.index() >= static_cast<uint64_t>(recipe_.prepared_size())) {
        return Invalid("packed copy ", slice.index(), " does not exist");
      }
      size = recipe_.prepared(slice.index()).bytes();
      break;
    default:
      return Invalid("memory space ", slice.space(), " is unknown");
  }
  if (slice.offset() > size || slice.bytes() > size - slice.offset()) {
    return Invalid(BufferSlice::Space_Name(slice.space()), " slice at ", slice.offset(), " of ",
                   slice.bytes(), " bytes ends outside its ", size, " bytes");
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckRead(const BufferSlice& slice) const {
  TRENCADIS_RETURN_IF_ERROR(CheckSlice(slice));
  const uint64_t end = slice.offset() + slice.bytes();
  if (slice.space() == BufferSlice::ARENA && !arena_written_.Contains(slice.offset(), end)) {
    return Invalid("reads arena bytes ", slice.offset(), "..", end, " that no step has written");
  }
  if (slice.space() == BufferSlice::OUTPUT &&
      (passed_through_[slice.index()] ||
       !output_written_[slice.index()].Contains(slice.offset(), end))) {
    return Invalid("reads bytes of output ", slice.index(), " that no step has written");
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckWritable(const BufferSlice& slice) const {
  TRENCADIS_RETURN_IF_ERROR(CheckSlice(slice));
  switch (slice.space()) {
    case BufferSlice::ARENA:
      return absl::OkStatus();
    case BufferSlice::OUTPUT:
      if (!passed_through_[slice.index()]) return absl::OkStatus();
      return Invalid("writes output ", slice.index(), ", which is an input passed through");
    case BufferSlice::INPUT:
      if (donated_[slice.index()]) return absl::OkStatus();
      return Invalid("writes input ", slice.index(), ", which is not donated");
    default:
      return Invalid("writes to ", BufferSlice::Space_Name(slice.space()), ", which is read-only");
  }
}

// A result may take an operand's place only from its first byte on; scratch and other results
// share nothing.
absl::Status Verifier::CheckNoOverlap(const Step& step) const {
  for (int r = 0; r < step.results_size(); ++r) {
    for (const BufferSlice& operand : step.operands()) {
      if (Overlap(operand, step.results(r)) && operand.offset() != step.results(r).offset()) {
        return Invalid("result ", r, " covers part of an operand");
      }
    }
    for (int other = 0; other < r; ++other) {
      if (Overlap(step.results(other), step.results(r))) {
        return Invalid("results ", other, " and ", r, " overlap");
      }
    }
    if (Overlap(step.scratch(), step.results(r))) return Invalid("result ", r, " overlaps scratch");
  }
  for (const BufferSlice& operand : step.operands()) {
    if (Overlap(step.scratch(), operand)) return Invalid("an operand overlaps scratch");
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckStep(const Step& step) {
  for (const BufferSlice& operand : step.operands()) TRENCADIS_RETURN_IF_ERROR(CheckRead(operand));
  for (const BufferSlice& result : step.results()) TRENCADIS_RETURN_IF_ERROR(CheckWritable(result));
  const BufferSlice& scratch = step.scratch();
  TRENCADIS_RETURN_IF_ERROR(CheckSlice(scratch));
  if (scratch.space() != BufferSlice::ARENA) return Invalid("scratch lies outside the arena");
  TRENCADIS_RETURN_IF_ERROR(CheckNoOverlap(step));
  TRENCADIS_RETURN_IF_ERROR(CheckStepSizes(step));
  for (const MatMulStep::PostOp& op : step.matmul().post_ops()) {
    if (op.kind() == "accumulate") TRENCADIS_RETURN_IF_ERROR(CheckRead(step.results(0)));
  }
  for (const KernelStage& stage : step.kernel().stages()) {
    if (!symbols_.contains(stage.symbol())) {
      return Invalid("symbol '", stage.symbol(), "' is in none of the objects");
    }
  }
  if (!std::isfinite(step.flops()) || !std::isfinite(step.bytes())) {
    return Invalid("cost is not a finite number");
  }
  for (const BufferSlice& result : step.results()) {
    const uint64_t end = result.offset() + result.bytes();
    if (result.space() == BufferSlice::ARENA) arena_written_.Add(result.offset(), end);
    if (result.space() == BufferSlice::OUTPUT) {
      output_written_[result.index()].Add(result.offset(), end);
    }
  }
  arena_written_.Remove(scratch.offset(), scratch.offset() + scratch.bytes());
  return absl::OkStatus();
}

absl::Status Verifier::CheckOutputsWritten() const {
  for (size_t i = 0; i < output_bytes_.size(); ++i) {
    if (!passed_through_[i] && !output_written_[i].Contains(0, output_bytes_[i])) {
      return Invalid("output ", i, " is not written in full");
    }
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckPlan() const {
  for (const MemoryPlanProto::Value& value : recipe_.plan().values()) {
    if (value.offset() > recipe_.arena_bytes() ||
        value.bytes() > recipe_.arena_bytes() - value.offset()) {
      return Invalid("planned value '", value.label(), "' lies outside the arena");
    }
    if (value.first_step() > value.last_step() ||
        value.last_step() >= static_cast<uint32_t>(recipe_.steps_size())) {
      return Invalid("planned value '", value.label(), "' lives in steps that do not exist");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyRecipe(const RecipeProto& recipe) { return Verifier(recipe).Run(); }

}  // namespace trencadis::recipe
