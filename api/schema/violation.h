// One thing that is wrong with a configuration.
#ifndef TRENCADIS_API_SCHEMA_VIOLATION_H_
#define TRENCADIS_API_SCHEMA_VIOLATION_H_

#include <string>

namespace trencadis::schema {

struct Violation {
  // Where, for a reader of JSON: "$.training.learning_rate" or "$.data.train_file[2]".
  std::string path;
  // Where, for a reader of a command line: "--learning_rate"; empty where no flag is to blame.
  std::string flag;
  // What it got, what was wanted and what to do.
  std::string problem;
};

}  // namespace trencadis::schema

#endif  // TRENCADIS_API_SCHEMA_VIOLATION_H_
