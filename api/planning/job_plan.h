// JobPlan: what a training job needs, known before it runs.
//
// There is no model of the job behind it: the plan is the same program on a device that only
// counts, which takes the job's first steps and one step for each further batch shape.
#ifndef TRENCADIS_API_PLANNING_JOB_PLAN_H_
#define TRENCADIS_API_PLANNING_JOB_PLAN_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/schema/tools.pb.h"
#include "training/results.h"

namespace trencadis::planning {

struct JobPlan {
  // Memory of the device: the most that tensors which outlive a step take, the one workspace, and
  // the most of both together (max_memory_allocated of the run).
  int64_t persistent_bytes = 0;
  int64_t workspace_bytes = 0;
  int64_t peak_bytes = 0;
  int64_t available_bytes = 0;
  int64_t compilations = 0;
  double compile_seconds = 0;
  int64_t steps = 0;
  double flops_per_step = 0;

  bool fits() const { return peak_bytes <= available_bytes; }
  // OK if it fits; ResourceExhausted says what is missing and what helps.
  absl::Status CheckFits() const;
  // For a report; GB are 1024^3 bytes.
  training::Metrics ToMetrics() const;
};

// `options` have their defaults applied. Reads the data, whose lengths decide the shapes, and of
// the model only the configuration. Errors as of the job itself; a job that does not fit is none.
absl::StatusOr<JobPlan> PlanJob(const schema::RunClm& options);
absl::StatusOr<JobPlan> PlanJob(const schema::RunLoraClm& options);

}  // namespace trencadis::planning

#endif  // TRENCADIS_API_PLANNING_JOB_PLAN_H_
