// Damaged and hostile files: each gets its manifest's verdict, and none makes a reader allocate
// more than the file's own size justifies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <new>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "models/checkpoint/gguf.h"
#include "models/checkpoint/model_directory.h"
#include "models/checkpoint/safetensors.h"
#include "runtime/base/file.h"

namespace {

// Bytes that operator new gave out since the last reset; nothing is subtracted, so this bounds the
// peak from above.
std::atomic<size_t> allocated_bytes{0};

}  // namespace

// Not inlined: the compiler would see malloc met by delete and warn.
[[gnu::noinline]] void* operator new(size_t bytes) {
  allocated_bytes += bytes;
  void* memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  allocated_bytes += bytes;
  return std::malloc(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace trencadis::checkpoint {
namespace {

using ::testing::HasSubstr;

constexpr char kMalformed[] = "../shared_data/shared/data/malformed/";

// Reads every tensor that can be read.
absl::Status ReadAll(const TensorSource& source) {
  for (const TensorInfo& info : source.tensors()) {
    if (!info.dtype) continue;
    const absl::Status status = source.Read(info.name).status();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

template <typename Source>
absl::Status Verdict(const absl::StatusOr<std::unique_ptr<Source>>& source) {
  return source.ok() ? ReadAll(**source) : source.status();
}

class MalformedTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!RealFileSystem().Exists(kMalformed)) GTEST_SKIP() << "no shared data";
  }

  std::vector<std::string> List(const std::string& folder, const std::string& extension) {
    const auto names = RealFileSystem().List(kMalformed + folder);
    EXPECT_TRUE(names.ok()) << names.status();
    std::vector<std::string> paths;
    for (const std::string& name : *names) {
      if (absl::EndsWith(name, extension)) paths.push_back(kMalformed + folder + "/" + name);
    }
    EXPECT_FALSE(paths.empty());
    return paths;
  }

  nlohmann::json Manifest(const std::string& folder) {
    return nlohmann::json::parse(std::ifstream(kMalformed + folder + "/MANIFEST.json"));
  }

  // Runs `open`, checks what it allocated against the file's size, and returns its status.
  template <typename Open>
  absl::Status Bounded(const std::string& path, const Open& open) {
    allocated_bytes = 0;
    const absl::Status status = open();
    const size_t file_bytes = *RealFileSystem().SizeBytes(path);
    EXPECT_GT(allocated_bytes.load(), 0u);
    // Reading copies the tensors; lists of them take a few hundred bytes per entry.
    EXPECT_LE(allocated_bytes.load(), 16 * file_bytes + (64 << 10)) << path;
    return status;
  }
};

TEST_F(MalformedTest, GgufFilesGetTheirVerdicts) {
  for (const std::string& path : List("gguf", ".gguf")) {
    const bool header_ok =
        Bounded(path, [&] { return GgufFile::Open(path, {.header_only = true}).status(); }).ok();
    const absl::Status whole = Bounded(path, [&] { return Verdict(GgufFile::Open(path)); });
    const bool is_ok = absl::StrContains(path, ".ok.");
    // These hold a list of tensors and no data.
    const bool list_only = absl::StrContains(path, "TENSORS_");
    EXPECT_TRUE(header_ok || !is_ok) << path;
    EXPECT_EQ(whole.ok(), is_ok && !list_only) << path << ": " << whole;
    if (!whole.ok()) {
      EXPECT_THAT(whole.message(), HasSubstr(path));
    }
  }
}

TEST_F(MalformedTest, SafetensorsFilesGetTheirVerdicts) {
  for (const nlohmann::json& entry : Manifest("safetensors")) {
    const std::string path = absl::StrCat(kMalformed, "safetensors/", std::string(entry["file"]));
    if (!RealFileSystem().Exists(path)) continue;
    const absl::Status status = Bounded(path, [&] { return Verdict(SafetensorsFile::Open(path)); });
    EXPECT_EQ(status.ok(), entry["expected"] == "OK") << path << ": " << status;
  }
}

// Files of published attacks; all are refused, some only as models.
TEST_F(MalformedTest, PublishedAttacksAreRefused) {
  for (const nlohmann::json& entry : Manifest("public_poc")) {
    const std::string path = absl::StrCat(kMalformed, "public_poc/", std::string(entry["file"]));
    if (!RealFileSystem().Exists(path)) continue;
    const absl::Status status = Bounded(path, [&] {
      if (absl::EndsWith(path, ".safetensors")) return Verdict(SafetensorsFile::Open(path));
      const absl::Status container = Verdict(GgufFile::Open(path));
      if (entry["expect"] != "reject at model load") return container;
      EXPECT_TRUE(container.ok()) << container;
      return OpenModel(path).status();
    });
    EXPECT_FALSE(status.ok()) << path << ": " << entry["why"];
  }
}

TEST_F(MalformedTest, LfsPointersAreNamed) {
  const std::string path = absl::StrCat(kMalformed, "lfs_pointers/adapter_model.safetensors");
  EXPECT_THAT(SafetensorsFile::Open(path).status().message(),
              HasSubstr("Git LFS pointer, not the file itself (45118424 bytes)"));
}

// Each file with each byte of its first 400 replaced: refused or read, never worse.
TEST_F(MalformedTest, ChangedBytesDoNoHarm) {
  const std::string copy = testing::TempDir() + "/changed";
  for (const char* original :
       {"gguf/DATA_SUCCESS.ok.gguf", "safetensors/test_deserialization.ok.safetensors"}) {
    const std::string path = absl::StrCat(kMalformed, original);
    std::string bytes = *RealFileSystem().ReadFile(path);
    const size_t changed = std::min<size_t>(bytes.size(), 400);
    for (size_t i = 0; i < changed; ++i) {
      for (char value : {'\0', '\xff'}) {
        std::string damaged = bytes.substr(0, 4096);
        damaged[i] = value;
        std::ofstream(copy, std::ios::binary) << damaged;
        Bounded(copy, [&] {
          if (absl::EndsWith(path, ".gguf")) {
            return GgufFile::Open(copy, {.header_only = true}).status();
          }
          return Verdict(SafetensorsFile::Open(copy));
        }).IgnoreError();
      }
    }
  }
}

}  // namespace
}  // namespace trencadis::checkpoint
