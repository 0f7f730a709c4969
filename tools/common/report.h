// Reporter: log lines and results of a tool, for a person or, with --json, as JSON lines on
// standard output.
#ifndef TRENCADIS_TOOLS_COMMON_REPORT_H_
#define TRENCADIS_TOOLS_COMMON_REPORT_H_

#include "training/results.h"

namespace trencadis::tools {

class Reporter {
 public:
  explicit Reporter(bool json) : json_(json) {}

  // A line of the log; in JSON, an object with "event": "log".
  void Log(const training::Metrics& metrics) const;
  // The final results; in JSON, an object with "event": "results".
  void Results(const training::Metrics& metrics) const { Print("results", metrics); }
  // What a job needs; in JSON, an object with "event": "plan".
  void Plan(const training::Metrics& metrics) const { Print("plan", metrics); }

 private:
  void Print(const char* event, const training::Metrics& metrics) const;
  void PrintJson(const char* event, const training::Metrics& metrics) const;

  bool json_;
};

}  // namespace trencadis::tools

#endif  // TRENCADIS_TOOLS_COMMON_REPORT_H_
