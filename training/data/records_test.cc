#include "training/data/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "runtime/base/file.h"

namespace trencadis::training {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string File(const std::string& name, const std::string& text) {
  const std::string path = JoinPath(testing::TempDir(), name);
  std::ofstream(path) << text;
  return path;
}

std::vector<Record> Read(const std::string& name, const std::string& text,
                         bool keep_line_breaks = true) {
  const auto records = ReadRecords({File(name, text)}, keep_line_breaks);
  EXPECT_TRUE(records.ok()) << records.status();
  return records.value_or(std::vector<Record>{});
}

std::vector<std::string> Texts(const std::vector<Record>& records) {
  std::vector<std::string> texts;
  for (const Record& record : records) {
    EXPECT_EQ(record.prompt, "");
    texts.push_back(record.completion);
  }
  return texts;
}

TEST(RecordsTest, LinesOfText) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(Texts(Read("a.txt", "one\n\ntwo\n")), (Lines{"one\n", "\n", "two\n"}));
  EXPECT_EQ(Texts(Read("a.txt", "one\n\ntwo", false)), (Lines{"one", "", "two"}));
  EXPECT_EQ(Texts(Read("a.txt", "")), Lines{});
}

TEST(RecordsTest, ObjectsOnLinesAndInAnArray) {
  const std::vector<Record> lines =
      Read("a.jsonl", "{\"text\": \"one\"}\n\n{\"prompt\": \"p\", \"completion\": \"c\"}\r\n");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].completion, "one");
  EXPECT_EQ(lines[1].prompt, "p");
  EXPECT_EQ(lines[1].completion, "c");
  const std::vector<Record> array = Read("a.json", R"( [{"text": "one"}, {"text": "two"}] )");
  EXPECT_EQ(Texts(array), (std::vector<std::string>{"one", "two"}));
  // A .json file may hold lines, too.
  EXPECT_EQ(Read("b.json", "{\"text\": \"one\"}\n{\"text\": \"two\"}\n").size(), 2u);
}

TEST(RecordsTest, AlpacaRecordsBecomePrompts) {
  const std::vector<Record> records =
      Read("a.json", R"([{"instruction": "Add.", "input": "1 2", "output": "3"},
                    {"instruction": "Say hi.", "input": "", "output": "hi"},
                    {"instruction": "Say hi.", "input": null, "output": "hi"}])");
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].prompt, AlpacaPrompt("Add.", "1 2"));
  EXPECT_THAT(records[0].prompt, HasSubstr("### Input:\n1 2\n\n### Response:"));
  EXPECT_EQ(records[0].completion, "3");
  EXPECT_THAT(records[1].prompt, Not(HasSubstr("### Input:")));
  EXPECT_EQ(records[1].prompt, records[2].prompt);
}

TEST(RecordsTest, FilesAreReadInOrder) {
  const auto records =
      ReadRecords({File("2.txt", "two"), File("1.jsonl", "{\"text\": \"one\"}")}, true);
  ASSERT_TRUE(records.ok()) << records.status();
  EXPECT_EQ(Texts(*records), (std::vector<std::string>{"two", "one"}));
}

// The message about a file with this text.
std::string ErrorOf(const std::string& name, const std::string& text) {
  const absl::Status status = ReadRecords({File(name, text)}, true).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(name));
  return std::string(status.message());
}

TEST(RecordsTest, BadRecordsAreNamedWithTheirPlace) {
  EXPECT_THAT(ErrorOf("a.jsonl", "{\"text\": \"x\"}\n{\"text\": }\n"),
              HasSubstr("line 2: it is not valid JSON"));
  EXPECT_THAT(ErrorOf("a.jsonl", "{\"text\": 7}\n"), HasSubstr("line 1: its 'text' is a number"));
  EXPECT_THAT(ErrorOf("a.jsonl", "[1]\n"), HasSubstr("line 1: it is a array"));
  EXPECT_THAT(ErrorOf("a.json", R"([{"text": "x"}, {"txt": "y"}])"), HasSubstr("record 1: wanted"));
  EXPECT_THAT(ErrorOf("a.json", R"([{"instruction": "x"}])"), HasSubstr("it has no 'output'"));
  EXPECT_THAT(ErrorOf("a.json", R"([{"prompt": "x"}])"), HasSubstr("it has no 'completion'"));
  EXPECT_THAT(ErrorOf("a.json", "7"), HasSubstr("wanted an array of records"));
  EXPECT_THAT(ErrorOf("a.csv", "text\nx\n"), HasSubstr(".txt, .json or .jsonl"));
  EXPECT_THAT(ErrorOf("a.json", std::string(100000, '[')), HasSubstr("nested too deeply"));
  EXPECT_THAT(ErrorOf("a.jsonl", "{\"text\": \"\xff\"}"), HasSubstr("line 1"));
}

TEST(RecordsTest, AMissingFileIsNamed) {
  const absl::Status status = ReadRecords({"/nowhere/a.txt"}, true).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/nowhere/a.txt"));
}

}  // namespace
}  // namespace trencadis::training
