// The common body of run_clm and run_lora_clm.
#ifndef TRENCADIS_TOOLS_COMMON_RUN_CAUSAL_LM_H_
#define TRENCADIS_TOOLS_COMMON_RUN_CAUSAL_LM_H_

#include <memory>

#include "absl/status/status.h"
#include "api/planning/job_plan.h"
#include "runtime/base/status.h"
#include "tools/common/report.h"
#include "training/jobs/causal_lm_job.h"
#include "training/jobs/session.h"

namespace trencadis::tools {

// `Tool` is schema::RunClm or schema::RunLoraClm.
template <typename Tool>
absl::Status RunCausalLm(const Tool& options) {
  const Reporter reporter(options.device().json());
  if (options.device().plan()) {
    TRENCADIS_ASSIGN_OR_RETURN(const planning::JobPlan plan, planning::PlanJob(options));
    reporter.Plan(plan.ToMetrics());
    return plan.CheckFits();
  }
  TRENCADIS_ASSIGN_OR_RETURN(
      const std::unique_ptr<training::Session> session,
      training::Session::Create(options.runtime(), options.device(), /*metering=*/false));
  TRENCADIS_ASSIGN_OR_RETURN(
      const std::unique_ptr<training::CausalLmJob> job,
      training::CausalLmJob::Create(*session, training::CausalLmOptions::Of(options)));
  training::CausalLmEvents events;
  events.on_log = [&](const training::Metrics& metrics) { reporter.Log(metrics); };
  events.dump_batches_path = options.device().dump_batches();
  TRENCADIS_ASSIGN_OR_RETURN(const training::Metrics results, job->Run(events));
  reporter.Results(results);
  return absl::OkStatus();
}

}  // namespace trencadis::tools

#endif  // TRENCADIS_TOOLS_COMMON_RUN_CAUSAL_LM_H_
