#include "models/checkpoint/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "models/checkpoint/safetensors_index.h"
#include "models/checkpoint/safetensors_writer.h"

namespace trencadis::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string TempPath(const std::string& name) { return testing::TempDir() + "/" + name; }

std::string WriteText(const std::string& name, const std::string& contents) {
  const std::string path = TempPath(name);
  std::ofstream(path, std::ios::binary) << contents;
  return path;
}

std::string ReadText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// A file with this header (padded by `padding` spaces) and data.
std::string FileBytes(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

absl::Status OpenStatus(const std::string& contents) {
  return SafetensorsFile::Open(WriteText("case.safetensors", contents)).status();
}

TEST(SafetensorsTest, WritesTheBytesOfTheReferenceImplementation) {
  const Literal weight = Literal::FromVector<float>({2}, {1.0f, -2.0f});
  const Literal bias = Literal::FromVector<BF16>({1}, {ToBF16(3.0f)});
  const Literal ids = Literal::FromVector<int64_t>({}, {7});
  const std::string path = TempPath("reference.safetensors");
  ASSERT_TRUE(
      WriteSafetensors(path, {ToWrite("b", bias), ToWrite("a.w", weight), ToWrite("z", ids)}).ok());
  // What safetensors.torch.save_file writes for the same tensors.
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"z":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
      R"("a.w":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},)"
      R"("b":{"dtype":"BF16","shape":[1],"data_offsets":[16,18]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  const std::string data("\x07\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\xc0\x40\x40", 18);
  EXPECT_EQ(ReadText(path), FileBytes(padded, data));
}

TEST(SafetensorsTest, RoundTripsEveryDType) {
  const Literal literals[] = {
      Literal::FromVector<float>({2, 2}, {1, 2, 3, 4}),
      Literal::FromVector<BF16>({3}, {ToBF16(1), ToBF16(-1), ToBF16(0)}),
      Literal::FromVector<int32_t>({1, 2}, {-5, 6}),
      Literal::FromVector<int64_t>({}, {1LL << 40}),
      Literal::FromVector<bool>({2}, {true, false}),
      Literal::FromVector<uint8_t>({0, 3}, {}),
  };
  std::vector<TensorToWrite> tensors;
  for (const Literal& literal : literals) {
    tensors.push_back(ToWrite(std::string(DTypeName(literal.dtype())), literal));
  }
  const std::string path = TempPath("dtypes.safetensors");
  ASSERT_TRUE(WriteSafetensors(path, tensors).ok());
  auto file = SafetensorsFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->metadata().at("format"), "pt");
  ASSERT_EQ((*file)->tensors().size(), 6u);
  for (const Literal& literal : literals) {
    auto read = (*file)->Read(DTypeName(literal.dtype()));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, literal);
  }
}

TEST(SafetensorsTest, ConvertsFloatsAndReadsRows) {
  // f16 1, 2, -0.5, 65504 as [2,2]; the data is misaligned on purpose (odd header length).
  const std::string header = R"({"h":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]}} )";
  const std::string data("\x00\x3c\x00\x40\x00\xb8\xff\x7b", 8);
  auto file = SafetensorsFile::Open(WriteText("f16.safetensors", FileBytes(header, data)));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->Find("h")->dtype, DType::kF32);
  EXPECT_EQ((*file)->Find("h")->stored_as, "F16");
  EXPECT_THAT((*file)->Read("h")->data<float>(), ElementsAre(1, 2, -0.5f, 65504));
  EXPECT_EQ((*file)->Read("h", DType::kBF16)->AsDouble(3), 65536);
  float row[2];
  const absl::Span<std::byte> out(reinterpret_cast<std::byte*>(row), sizeof(row));
  ASSERT_TRUE((*file)->ReadRowsInto("h", 1, 1, DType::kF32, out).ok());
  EXPECT_THAT(row, ElementsAre(-0.5f, 65504));
  EXPECT_EQ((*file)->ReadRowsInto("h", 1, 2, DType::kF32, out).code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ((*file)->ReadInto("h", DType::kF32, out).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ((*file)->Read("h", DType::kI32).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ((*file)->Read("g").status().code(), absl::StatusCode::kNotFound);
}

TEST(SafetensorsTest, ListsTensorsItCannotRead) {
  const std::string header = R"({"q":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}})";
  auto file = SafetensorsFile::Open(WriteText("f8.safetensors", FileBytes(header, "ab")));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->Find("q")->dtype, std::nullopt);
  const absl::Status status = (*file)->Read("q").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("F8_E4M3"));
}

TEST(SafetensorsTest, NamesWhatIsWrong) {
  const struct {
    std::string contents, message;
  } cases[] = {
      {"", "empty"},
      {"abc", "8 bytes of length"},
      {FileBytes("[]", ""), "where an object is wanted"},
      {FileBytes(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "ab"),
       "is the download complete?"},
      {FileBytes(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "abcdefgh"),
       "4 bytes after the last tensor"},
      {FileBytes(R"({"a":{"dtype":"F3","shape":[1],"data_offsets":[0,4]}})", "abcd"),
       "unknown dtype 'F3'"},
      {FileBytes(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                 R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                 "ab"),
       "'a' is listed twice"},
      {FileBytes(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                 R"("b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                 "ab"),
       "'b' lies at bytes 1 to 2"},
      {FileBytes(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,2]}})", "ab"),
       "needs 3 bytes"},
      {FileBytes("{}" + std::string("\0{}", 3), ""), "not a JSON object"},
      {FileBytes(R"({"a":{"dtype":"U8","dtype":"U8","shape":[],"data_offsets":[0,1]}})", "a"),
       "a second value at \"a\".dtype"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 45118424\n",
       "Git LFS pointer, not the file itself (45118424 bytes)"},
      {"<!DOCTYPE html><html>", "HTML page"},
      {"PK\x03\x04zip", "zip archive"},
      {R"({"error":"Repository not found"})", "JSON text"},
      {std::string("GGUF\3\0\0\0", 8), "GGUF file"},
  };
  for (const auto& c : cases) {
    const absl::Status status = OpenStatus(c.contents);
    EXPECT_FALSE(status.ok()) << c.message;
    EXPECT_THAT(status.message(), HasSubstr(c.message));
    EXPECT_THAT(status.message(), HasSubstr("case.safetensors"));
  }
}

TEST(SafetensorsTest, EveryTruncationIsRefused) {
  const Literal weight = Literal::FromVector<float>({2}, {1, 2});
  const std::string path = TempPath("whole.safetensors");
  ASSERT_TRUE(WriteSafetensors(path, {ToWrite("w", weight)}).ok());
  const std::string whole = ReadText(path);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(OpenStatus(whole.substr(0, size)).ok()) << size;
  }
}

TEST(SafetensorsTest, WriterRefusesTwoTensorsOfOneName) {
  const Literal weight = Literal::Scalar(1.0f);
  const std::string path = TempPath("twice.safetensors");
  EXPECT_EQ(WriteSafetensors(path, {ToWrite("w", weight), ToWrite("w", weight)}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(RealFileSystem().Exists(path));
}

TEST(SafetensorsTest, WriterRefusesTooFewBytes) {
  const std::string path = TempPath("short.safetensors");
  TensorToWrite tensor{
      "w", {DType::kF32, {2}}, [](ByteSink sink) { return sink(std::vector<std::byte>(4)); }};
  EXPECT_EQ(WriteSafetensors(path, {tensor}).code(), absl::StatusCode::kInternal);
  EXPECT_FALSE(RealFileSystem().Exists(path));
}

class IndexTest : public testing::Test {
 protected:
  IndexTest() {
    const Literal a = Literal::FromVector<float>({1}, {1}),
                  b = Literal::FromVector<float>({1}, {2});
    EXPECT_TRUE(WriteSafetensors(TempPath("s1.safetensors"), {ToWrite("b", a)}).ok());
    EXPECT_TRUE(WriteSafetensors(TempPath("s2.safetensors"), {ToWrite("a", b)}).ok());
  }

  absl::StatusOr<std::unique_ptr<TensorSource>> Open(const std::string& weight_map) {
    return OpenSafetensorsIndex(
        WriteText("model.safetensors.index.json",
                  absl::StrCat(R"({"metadata":{"total_size":8},"weight_map":)", weight_map, "}")));
  }
};

TEST_F(IndexTest, ReadsEachTensorFromItsShard) {
  auto source = Open(R"({"a":"s2.safetensors","b":"s1.safetensors"})");
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->Read("a")->AsDouble(0), 2);
  EXPECT_EQ((*source)->Read("b")->AsDouble(0), 1);
}

TEST_F(IndexTest, RefusesWrongIndexes) {
  EXPECT_THAT(Open(R"({"a":"s1.safetensors"})").status().message(), HasSubstr("'a' is missing"));
  EXPECT_THAT(Open(R"({"a":"s3.safetensors"})").status().message(), HasSubstr("s3.safetensors"));
  EXPECT_THAT(Open(R"({"a":"../s1.safetensors"})").status().message(), HasSubstr("beside it"));
  EXPECT_THAT(Open(R"({"a":1})").status().message(), HasSubstr("weight_map.a"));
  EXPECT_THAT(Open("[]").status().message(), HasSubstr("weight_map"));
}

}  // namespace
}  // namespace trencadis::checkpoint
