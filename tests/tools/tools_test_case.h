// ToolsTestCase: a small model, its tokenizer and data, made once per test program with the
// quickstart's tools; needs no shared data.
#ifndef TRENCADIS_TESTS_TOOLS_TOOLS_TEST_CASE_H_
#define TRENCADIS_TESTS_TOOLS_TOOLS_TEST_CASE_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tools/tool_process.h"

namespace trencadis::tests {

class ToolsTestCase : public testing::Test {
 protected:
  // Data and tokenizer, and a model that run_clm trained for a few steps.
  static void SetUpTestSuite();

  // A path in the test's own directory.
  static std::string Path(const std::string& name);
  static std::string Config() { return Path("config"); }
  static std::string Base() { return Path("base"); }

  // The arguments of a short training to `output`, data included; `more` may override them.
  static std::vector<std::string> Clm(const std::string& output,
                                      const std::vector<std::string>& more = {});
  static std::vector<std::string> Lora(const std::string& output,
                                       const std::vector<std::string>& more = {});
};

std::string ReadFileOrFail(const std::string& path);

}  // namespace trencadis::tests

#endif  // TRENCADIS_TESTS_TOOLS_TOOLS_TEST_CASE_H_
