#include "api/schema/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/schema/spec.h"
#include "api/schema/testing/sample.pb.h"

namespace trencadis::schema {
namespace {

using testing::Basics;
using testing::Clashing;
using ::testing::HasSubstr;
using testing::Sample;

const Catalog& SampleCatalog() { return **Catalog::Of(Sample::descriptor()); }

TEST(CatalogTest, ListsOptionsInOrderWithoutAbsentOnes) {
  std::vector<std::string> names;
  for (const Option& option : SampleCatalog().options()) names.push_back(option.name());
  EXPECT_THAT(names, ::testing::ElementsAre("flag", "cache", "tristate", "count", "limit", "rate",
                                            "scale", "name", "mode", "part", "size", "later",
                                            "unused", "word", "count_extended"));
}

TEST(CatalogTest, FindsByNameAndAlias) {
  const Catalog& catalog = SampleCatalog();
  EXPECT_EQ(catalog.tool_name(), "sample");
  EXPECT_EQ(catalog.Find("count")->JsonPath(), "$.basics.count");
  EXPECT_EQ(catalog.Find("-c"), catalog.Find("count"));
  EXPECT_EQ(catalog.Find("--how_many"), catalog.Find("count"));
  EXPECT_EQ(catalog.Find("removed"), nullptr);
  EXPECT_EQ(catalog.Find("basics"), nullptr);
}

TEST(CatalogTest, MergesAdjustments) {
  EXPECT_EQ(SampleCatalog().Find("unused")->spec.default_value(), "dev");
  EXPECT_EQ(SampleCatalog().Find("unused")->spec.reason(), "nothing uses it");
  EXPECT_EQ(SampleCatalog().Find("unused")->spec.group(), "Extras");
  EXPECT_EQ(SampleCatalog().Find("word")->spec.group(), "Words");
}

TEST(CatalogTest, TellsWhatIsSet) {
  const Option& part = *SampleCatalog().Find("part");
  const Option& flag = *SampleCatalog().Find("flag");
  Sample sample;
  EXPECT_EQ(part.Find(sample), nullptr);
  EXPECT_FALSE(part.IsSet(sample));
  sample.mutable_basics()->set_flag(false);
  EXPECT_TRUE(flag.IsSet(sample));
  EXPECT_FALSE(part.IsSet(sample));
  sample.mutable_basics()->add_part("x");
  EXPECT_TRUE(part.IsSet(sample));
}

TEST(CatalogTest, RefusesNamesThatTwoGroupsShare) {
  const absl::StatusOr<const Catalog*> catalog = Catalog::Of(Clashing::descriptor());
  EXPECT_EQ(catalog.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(catalog.status().message(), HasSubstr("--flag is both $.one.flag and $.two.flag"));
}

TEST(SpecTest, SaysWhatIsWanted) {
  const auto wanted = [](const char* name) {
    const google::protobuf::FieldDescriptor* field = Basics::descriptor()->FindFieldByName(name);
    return Wanted(field, SpecOf(nullptr, field));
  };
  EXPECT_EQ(wanted("flag"), "true or false");
  EXPECT_EQ(wanted("count"), "an integer at least 1, at most 100");
  EXPECT_EQ(wanted("scale"), "a number above 0, at most 2");
  EXPECT_EQ(wanted("limit"), "an integer");
  EXPECT_EQ(wanted("name"), "a text");
  EXPECT_EQ(wanted("mode"), "one of slow, fast");
}

}  // namespace
}  // namespace trencadis::schema
