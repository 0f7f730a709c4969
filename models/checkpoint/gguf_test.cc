#include "models/checkpoint/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "models/checkpoint/gguf_builder.h"

namespace trencadis::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<std::unique_ptr<GgufFile>> Open(const std::string& bytes) {
  const std::string path = testing::TempDir() + "/case.gguf";
  std::ofstream(path, std::ios::binary) << bytes;
  return GgufFile::Open(path);
}

std::string Error(const std::string& bytes) { return std::string(Open(bytes).status().message()); }

TEST(GgufTest, ReadsTypedMetadata) {
  auto file = Open(GgufBuilder()
                       .U32("int", 7)
                       .F32("number", 0.5f)
                       .Bool("bool", true)
                       .String("string", "añ")
                       .Strings("strings", {"a", "", "bc"})
                       .Floats("floats", {1, 2})
                       .Ints("ints", {-1, 5})
                       .Build());
  ASSERT_TRUE(file.ok()) << file.status();
  const GgufMetadata& metadata = (*file)->metadata();
  int64_t integer = 0;
  double number = 0;
  bool boolean = false;
  std::string text;
  std::vector<absl::string_view> texts;
  std::vector<float> floats;
  std::vector<int64_t> ints = {9};
  ASSERT_TRUE(metadata.Int("int", integer).ok());
  ASSERT_TRUE(metadata.Number("number", number).ok());
  ASSERT_TRUE(metadata.Bool("bool", boolean).ok());
  ASSERT_TRUE(metadata.String("string", text).ok());
  ASSERT_TRUE(metadata.Strings("strings", texts).ok());
  ASSERT_TRUE(metadata.Numbers("floats", floats).ok());
  ASSERT_TRUE(metadata.Ints("absent", ints).ok());
  EXPECT_THAT(ints, ElementsAre(9));  // absent: left alone
  ASSERT_TRUE(metadata.Ints("ints", ints).ok());
  EXPECT_EQ(integer, 7);
  EXPECT_EQ(number, 0.5);
  EXPECT_TRUE(boolean);
  EXPECT_EQ(text, "añ");
  EXPECT_THAT(texts, ElementsAre("a", "", "bc"));
  EXPECT_THAT(floats, ElementsAre(1, 2));
  EXPECT_THAT(ints, ElementsAre(-1, 5));

  EXPECT_THAT(metadata.Int("string", integer).message(), HasSubstr("'string' is string"));
  EXPECT_THAT(metadata.Int("ints", integer).message(), HasSubstr("array of i32"));
  EXPECT_FALSE(metadata.Number("int", number).ok());
  EXPECT_FALSE(metadata.Bool("int", boolean).ok());
  EXPECT_FALSE(metadata.String("strings", text).ok());
  EXPECT_FALSE(metadata.Strings("string", texts).ok());
  EXPECT_FALSE(metadata.Ints("floats", ints).ok());
  EXPECT_FALSE(metadata.Numbers("number", floats).ok());
}

TEST(GgufTest, ReversesDimensionsAndReadsQuantisedRows) {
  // Two rows of 32, with scales 1 and 2, of Q8_0.
  const std::string one("\x00\x3c", 2), two("\x00\x40", 2);
  auto file = Open(GgufBuilder()
                       .Tensor("q", {32, 2}, 8, one + std::string(32, 3) + two + std::string(32, 5))
                       .Constant("f", {2, 3, 4}, 1.5f)
                       .Build());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->Find("f")->shape, (Shape{4, 3, 2}));
  EXPECT_EQ((*file)->Find("q")->stored_as, "Q8_0");
  EXPECT_EQ((*file)->Find("q")->dtype, DType::kF32);
  EXPECT_EQ((*file)->Read("f")->AsDouble(23), 1.5);
  float row[32];
  const absl::Span<std::byte> out(reinterpret_cast<std::byte*>(row), sizeof(row));
  ASSERT_TRUE((*file)->ReadRowsInto("q", 1, 1, DType::kF32, out).ok());
  EXPECT_THAT(row, testing::Each(10.0f));
}

TEST(GgufTest, AQuantisedVectorIsReadInWholeBlocks) {
  auto file = Open(GgufBuilder().Tensor("v", {64}, 8, std::string(68, 0)).Build());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE((*file)->Read("v").ok());
  std::vector<std::byte> out(4);
  EXPECT_EQ((*file)->ReadRowsInto("v", 5, 1, DType::kF32, absl::MakeSpan(out)).code(),
            absl::StatusCode::kUnimplemented);
}

TEST(GgufTest, TypesThatCannotBeReadAreNamed) {
  auto file = Open(GgufBuilder().Tensor("k", {256}, 10, std::string(84, 0)).Build());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT((*file)->Read("k").status().message(), HasSubstr("Q2_K"));
}

TEST(GgufTest, NamesWhatIsWrong) {
  EXPECT_THAT(Error("{}"), HasSubstr("does not begin with \"GGUF\""));
  EXPECT_THAT(Error("GGUF" + GgufBuilder::Raw(uint32_t{1})), HasSubstr("version 1"));
  EXPECT_THAT(Error("GGUF" + std::string("\0\0\0\3", 4)), HasSubstr("big-endian"));
  EXPECT_THAT(Error("GGUF" + GgufBuilder::Raw(uint32_t{3}) + GgufBuilder::Raw(uint64_t{1} << 60) +
                    GgufBuilder::Raw(uint64_t{0})),
              HasSubstr("claims 1152921504606846976 tensors"));
  EXPECT_THAT(Error(GgufBuilder().U32("k", 1).U32("k", 2).Build()),
              HasSubstr("'k' is there twice"));
  EXPECT_THAT(Error(GgufBuilder().U32("general.alignment", 48).Build()), HasSubstr("power of two"));
  EXPECT_THAT(Error(GgufBuilder().Constant("t", {1}, 0).Constant("t", {1}, 0).Build()),
              HasSubstr("'t' is listed twice"));
  EXPECT_THAT(Error(GgufBuilder().Tensor("t", {1}, 99, "").Build()), HasSubstr("unknown type 99"));
  EXPECT_THAT(Error(GgufBuilder().Tensor("t", {33}, 8, "").Build()), HasSubstr("multiple"));
  EXPECT_THAT(Error(GgufBuilder().Tensor("t", {1, 1, 1, 1, 1}, 0, "").Build()),
              HasSubstr("5 dimensions"));
  EXPECT_THAT(Error(GgufBuilder().Tensor("t", {1u << 31, 1u << 31, 8}, 0, "").Build()),
              HasSubstr("overflows"));
  const std::string whole = GgufBuilder().Constant("t", {64}, 1).Build();
  EXPECT_THAT(Error(whole.substr(0, whole.size() - 1)), HasSubstr("is the download complete?"));
}

}  // namespace
}  // namespace trencadis::checkpoint
