#include "runtime/base/env.h"

#include <gtest/gtest.h>

#include "runtime/base/scoped_env.h"

namespace trencadis {
namespace {

constexpr char kName[] = "TRENCADIS_ENV_TEST";

TEST(EnvTest, UnsetGivesTheDefault) {
  EXPECT_FALSE(EnvIsSet(kName));
  EXPECT_EQ(EnvString(kName, "fallback"), "fallback");
  EXPECT_EQ(EnvInt(kName, 7), 7);
  EXPECT_TRUE(EnvBool(kName, true));
}

TEST(EnvTest, EmptyIsSetButHoldsNoNumber) {
  ScopedEnv env(kName, "");
  EXPECT_TRUE(EnvIsSet(kName));
  EXPECT_EQ(EnvString(kName, "fallback"), "");
  EXPECT_EQ(EnvInt(kName, 7), 7);
  EXPECT_TRUE(EnvBool(kName, true));
}

TEST(EnvTest, ReadsNumbers) {
  ScopedEnv env(kName, "-9223372036854775808");
  EXPECT_EQ(EnvInt(kName, 7), INT64_MIN);
}

TEST(EnvTest, ReadsBooleansInEverySpelling) {
  for (const char* text : {"1", "true", "True", "YES", "on", " t"}) {
    ScopedEnv env(kName, text);
    EXPECT_TRUE(EnvBool(kName, false)) << text;
  }
  for (const char* text : {"0", "false", "False", "NO", "off", "f"}) {
    ScopedEnv env(kName, text);
    EXPECT_FALSE(EnvBool(kName, true)) << text;
  }
}

TEST(EnvTest, MalformedIsReportedAndGivesTheDefault) {
  ScopedEnv env(kName, "many");
  testing::internal::CaptureStderr();
  EXPECT_EQ(EnvInt(kName, 7), 7);
  EXPECT_TRUE(EnvBool(kName, true));
  const std::string output = testing::internal::GetCapturedStderr();
  EXPECT_NE(output.find("TRENCADIS_ENV_TEST is 'many'; wanted an integer"), std::string::npos);
  EXPECT_NE(output.find("wanted true or false"), std::string::npos);
}

TEST(EnvTest, ScopedEnvRestores) {
  ScopedEnv outer(kName, "outer");
  { ScopedEnv inner(kName, "inner"); }
  EXPECT_EQ(EnvString(kName, ""), "outer");
}

}  // namespace
}  // namespace trencadis
