#include "api/schema/json_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "api/schema/service.pb.h"
#include "api/schema/testing/sample.pb.h"

namespace trencadis::schema {
namespace {

using nlohmann::json;

json SampleSchemas() {
  return json::parse(JsonSchemas({testing::Sample::descriptor(), testing::Job::descriptor()}));
}

TEST(JsonSchemaTest, DescribesEveryKindOfOption) {
  const json schemas = SampleSchemas();
  const json& basics = schemas.at("Basics");
  EXPECT_EQ(basics.at("additionalProperties"), false);
  EXPECT_EQ(basics.at("required"), json::parse(R"(["name"])"));
  const json& options = basics.at("properties");
  EXPECT_EQ(options.at("flag"),
            json::parse(R"({"type": "boolean", "default": false, "description": "A switch."})"));
  EXPECT_EQ(options.at("tristate").at("type"), json::parse(R"(["boolean", "null"])"));
  EXPECT_EQ(options.at("count"), json::parse(R"({"type": "integer", "format": "int32",
      "minimum": 1, "maximum": 100, "default": 8, "description": "How many."})"));
  EXPECT_EQ(options.at("scale").at("exclusiveMinimum"), 0.0);
  EXPECT_EQ(options.at("mode").at("enum"), json::parse(R"(["slow", "fast"])"));
  EXPECT_EQ(options.at("size").at("items"),
            json::parse(R"({"type": "integer", "format": "int32", "minimum": 0})"));
}

TEST(JsonSchemaTest, TellsWhatIsRefusedAndWhatHasNoEffect) {
  const json extras = SampleSchemas().at("SampleExtras").at("properties");
  EXPECT_EQ(extras.at("later").at("const"), false);
  EXPECT_EQ(extras.at("later").at("description"),
            "Not yet. Refused unless it is the default: wait.");
  EXPECT_EQ(extras.at("unused").at("description"), "Ignored. Has no effect: nothing uses it.");
}

TEST(JsonSchemaTest, GivesChangedMessagesTheirOwnSchema) {
  const json schemas = SampleSchemas();
  EXPECT_EQ(schemas.at("Sample").at("properties").at("extras").at("$ref"),
            "#/components/schemas/SampleExtras");
  EXPECT_FALSE(schemas.at("SampleExtras").at("properties").contains("removed"));
  EXPECT_EQ(schemas.at("SampleExtras").at("properties").at("unused").at("default"), "dev");
  EXPECT_TRUE(schemas.at("Extras").at("properties").contains("removed"));
  EXPECT_EQ(schemas.at("Sample").at("required"), json::parse(R"(["basics"])"))
      << "a group with a required option";
}

TEST(JsonSchemaTest, WantsOneMemberOfAOneof) {
  EXPECT_EQ(SampleSchemas().at("Job").at("allOf"),
            json::parse(R"([{"oneOf": [{"required": ["sample"]}, {"required": ["extras"]}]}])"));
}

void CollectReferences(const json& node, std::set<std::string>* names) {
  for (const auto& [key, value] : node.items()) {
    if (key == "$ref") {
      const std::string prefix = "#/components/schemas/";
      const std::string text = value.get<std::string>();
      EXPECT_EQ(text.rfind(prefix, 0), 0u) << text;
      names->insert(text.substr(prefix.size()));
    } else if (value.is_structured()) {
      CollectReferences(value, names);
    }
  }
}

TEST(JsonSchemaTest, HasAllThatJobsReferTo) {
  const json schemas = json::parse(JsonSchemas({JobSpec::descriptor()}));
  std::set<std::string> names;
  CollectReferences(schemas, &names);
  EXPECT_GT(names.size(), 10u);
  for (const std::string& name : names) EXPECT_TRUE(schemas.contains(name)) << name;
  EXPECT_EQ(
      schemas.at("RunLoraClmData").at("properties").at("validation_split_percentage").at("default"),
      0);
  EXPECT_EQ(
      schemas.at("RunClmData").at("properties").at("validation_split_percentage").at("default"), 5);
}

}  // namespace
}  // namespace trencadis::schema
