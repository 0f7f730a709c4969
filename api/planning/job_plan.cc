#include "api/planning/job_plan.h"

#include <memory>

#include "absl/strings/str_format.h"
#include "runtime/base/status.h"
#include "training/jobs/causal_lm_job.h"
#include "training/jobs/session.h"

namespace trencadis::planning {
namespace {

double Gigabytes(int64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0); }

template <typename Tool>
absl::StatusOr<JobPlan> Plan(const Tool& options) {
  TRENCADIS_ASSIGN_OR_RETURN(const DeviceSpec spec, training::DeviceSpecOf(options.device()));
  TRENCADIS_ASSIGN_OR_RETURN(
      const std::unique_ptr<training::Session> session,
      training::Session::Create(options.runtime(), options.device(), /*metering=*/true));
  TRENCADIS_ASSIGN_OR_RETURN(
      const std::unique_ptr<training::CausalLmJob> job,
      training::CausalLmJob::Create(*session, training::CausalLmOptions::Of(options)));
  TRENCADIS_ASSIGN_OR_RETURN(const training::CausalLmJob::Rehearsal rehearsal, job->Rehearse());
  const MemoryStats memory = session->device().memory_stats();
  const compiler_cache::MemoryProvider::Stats recipes = session->recipes().stats();
  JobPlan plan;
  plan.persistent_bytes = memory.max_persistent_bytes;
  plan.workspace_bytes = memory.workspace_bytes;
  plan.peak_bytes = memory.max_in_use_bytes;
  plan.available_bytes = spec.memory_bytes;
  plan.compilations = recipes.misses;
  plan.compile_seconds = recipes.compile_seconds;
  plan.steps = rehearsal.steps;
  plan.flops_per_step = rehearsal.flops_per_step;
  return plan;
}

}  // namespace

absl::Status JobPlan::CheckFits() const {
  if (fits()) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "the job needs %.2f GB of device memory (%.2f GB of tensors, %.2f GB of workspace) and there "
      "are %.2f GB; use a smaller --per_device_train_batch_size with more "
      "--gradient_accumulation_steps, --gradient_checkpointing, --bf16 or shorter sequences",
      Gigabytes(peak_bytes), Gigabytes(persistent_bytes), Gigabytes(workspace_bytes),
      Gigabytes(available_bytes)));
}

training::Metrics JobPlan::ToMetrics() const {
  training::Metrics metrics;
  metrics.Set("max_memory_allocated (GB)", Gigabytes(peak_bytes));
  metrics.Set("persistent_memory (GB)", Gigabytes(persistent_bytes));
  metrics.Set("workspace (GB)", Gigabytes(workspace_bytes));
  metrics.Set("total_memory_available (GB)", Gigabytes(available_bytes));
  metrics.Set("fits", fits() ? 1 : 0);
  metrics.Set("compilations", static_cast<double>(compilations));
  metrics.Set("compile_seconds", compile_seconds);
  metrics.Set("steps", static_cast<double>(steps));
  metrics.Set("flops_per_step", flops_per_step);
  return metrics;
}

absl::StatusOr<JobPlan> PlanJob(const schema::RunClm& options) { return Plan(options); }
absl::StatusOr<JobPlan> PlanJob(const schema::RunLoraClm& options) { return Plan(options); }

}  // namespace trencadis::planning
