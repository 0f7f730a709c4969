// The checks themselves, on small examples: each must find what it looks for.
#include "tests/structure/source_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trencadis::structure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SourceChecksTest : public testing::Test {
 protected:
  const Layers layers_ = *Layers::Parse(
      "# comment\n"
      "0 runtime/base\n"
      "1 runtime/core\n"
      "1 api/schema   # another comment\n"
      "2 tests\n");
};

TEST_F(SourceChecksTest, LayersAreThoseOfTheLongestFolder) {
  EXPECT_EQ(layers_.LayerOf("runtime/base/file.h"), 0);
  EXPECT_EQ(layers_.LayerOf("runtime/core"), 1);
  EXPECT_EQ(layers_.LayerOf("runtime/basement/file.h"), std::nullopt);
  EXPECT_EQ(layers_.LayerOf("third_party/abseil"), std::nullopt);
  EXPECT_EQ(Layers::Parse("0 a\n1 a/b\n")->LayerOf("a/b/c.h"), 1);
  EXPECT_EQ(layers_.LowestLayerIn("runtime"), 0);
  EXPECT_EQ(layers_.LowestLayerIn("api"), 1);
  EXPECT_EQ(layers_.LowestLayerIn("runtime/core/sub"), 1);
  EXPECT_EQ(layers_.LowestLayerIn("models"), std::nullopt);
  EXPECT_FALSE(Layers::Parse("runtime/base\n").ok());
  EXPECT_FALSE(Layers::Parse("x runtime/base\n").ok());
}

TEST_F(SourceChecksTest, PackageGroupsIncludeTheHigherLayers) {
  EXPECT_EQ(Layers::Parse("0 a\n1 b\n1 c/d\n")->PackageGroups(),
            "package_group(\n"
            "    name = \"layer_0_up\",\n"
            "    includes = [\":layer_1_up\"],\n"
            "    packages = [\"//a/...\"],\n"
            ")\n"
            "\n"
            "package_group(\n"
            "    name = \"layer_1_up\",\n"
            "    packages = [\n"
            "        \"//b/...\",\n"
            "        \"//c/d/...\",\n"
            "    ],\n"
            ")\n");
}

TEST_F(SourceChecksTest, IncludesGoDownOrSideways) {
  EXPECT_THAT(CheckIncludes(layers_, "runtime/core/x.h",
                            "#include <vector>\n"
                            "#include \"absl/status/status.h\"\n"
                            "#include \"runtime/base/file.h\"\n"
                            "#include \"api/schema/job.pb.h\"\n"),
              IsEmpty());
  EXPECT_THAT(
      CheckIncludes(layers_, "runtime/base/x.cc", "\n#include \"runtime/core/shape.h\"\n"),
      ElementsAre("runtime/base/x.cc:2 (layer 0) includes runtime/core/shape.h of layer 1"));
  EXPECT_THAT(CheckIncludes(layers_, "runtime/core/x.cc", "# include \"shape.h\"\n"),
              ElementsAre(HasSubstr("includes \"shape.h\" without its folder")));
  EXPECT_THAT(CheckIncludes(layers_, "models/x.cc", ""), ElementsAre(HasSubstr("in no layer")));
}

TEST_F(SourceChecksTest, LlvmAndOneDnnAreReserved) {
  constexpr char kText[] = "#include \"llvm/IR/Module.h\"\n#include <dnnl.hpp>\n";
  EXPECT_THAT(CheckReservedNames("runtime/codegen/x.cc", kText), IsEmpty());
  EXPECT_THAT(CheckReservedNames("runtime/device/x.cc", kText),
              ElementsAre(HasSubstr("x.cc:1 includes llvm/IR/Module.h"),
                          HasSubstr("x.cc:2 includes dnnl.hpp")));
}

TEST_F(SourceChecksTest, EnvironmentIsReserved) {
  const std::string text = std::string("const char* home = std::getenv") + "(\"HOME\");\n";
  EXPECT_THAT(CheckReservedNames("runtime/base/env.cc", text), IsEmpty());
  EXPECT_THAT(CheckReservedNames("runtime/base/file.cc", text),
              ElementsAre(HasSubstr("reads the environment")));
  EXPECT_THAT(CheckReservedNames("runtime/base/file.cc", "// no getenv here\n"), IsEmpty());
}

TEST_F(SourceChecksTest, GuardsAreNamedByThePath) {
  constexpr char kGood[] =
      "// Purpose.\n#ifndef TRENCADIS_A_B_C_H_\n#define TRENCADIS_A_B_C_H_\n\n"
      "#endif  // TRENCADIS_A_B_C_H_\n";
  EXPECT_THAT(CheckIncludeGuard("a/b_c.h", kGood), IsEmpty());
  EXPECT_THAT(CheckIncludeGuard("a/b.h", kGood), ElementsAre(HasSubstr("TRENCADIS_A_B_H_")));
  EXPECT_THAT(CheckIncludeGuard("a/b.h", "#pragma once\n"), ElementsAre(HasSubstr("lacks")));
}

TEST_F(SourceChecksTest, FilesHaveAtMost500Lines) {
  EXPECT_THAT(CheckLength("a.cc", std::string(500, '\n')), IsEmpty());
  EXPECT_THAT(CheckLength("a.cc", std::string(501, '\n')), ElementsAre(HasSubstr("501 lines")));
}

TEST_F(SourceChecksTest, PackagesAreShownToTheirLayerAndUp) {
  const auto check = [&](absl::string_view text) {
    return CheckVisibility(layers_, "runtime/core/BUILD", text);
  };
  constexpr char kDefault[] = "package(default_visibility = [\"//:layer_1_up\"])\n";
  EXPECT_THAT(check(kDefault), IsEmpty());
  EXPECT_THAT(check("package(default_visibility = [\"//visibility:private\"])\n"), IsEmpty());
  EXPECT_THAT(check(""), ElementsAre(HasSubstr("lacks package(default_visibility")));
  EXPECT_THAT(check("package(default_visibility = [\"//visibility:public\"])\n"),
              ElementsAre(HasSubstr("wanted [\"//:layer_1_up\"]")));
  EXPECT_THAT(check("package(default_visibility = [\"//:layer_0_up\"])\n"),
              ElementsAre(HasSubstr("wanted [\"//:layer_1_up\"]")));
  EXPECT_THAT(check("package(default_visibility = [\"//api:__subpackages__\"])\n"), IsEmpty());
  EXPECT_THAT(check("package(default_visibility = [\"//runtime:__subpackages__\"])\n"),
              ElementsAre(HasSubstr("wanted [\"//:layer_1_up\"]")));
  EXPECT_THAT(check(std::string(kDefault) + "x(visibility = [\"//api/schema:__pkg__\"])"),
              IsEmpty());
  EXPECT_THAT(check(std::string(kDefault) + "x(visibility = [\"//runtime/base:__pkg__\"])"),
              ElementsAre(HasSubstr("has visibility")));
  EXPECT_THAT(check(std::string(kDefault) + "x(visibility = [\"//visibility:public\"])"),
              ElementsAre(HasSubstr("has visibility")));
  EXPECT_THAT(CheckVisibility(layers_, "third_party/x/BUILD", ""), IsEmpty());
}

}  // namespace
}  // namespace trencadis::structure
