// Random messages survive every notation.
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "api/schema/defaults.h"
#include "api/schema/flags.h"
#include "api/schema/json_read.h"
#include "api/schema/json_write.h"
#include "api/schema/testing/random_message.h"
#include "api/schema/testing/sample.pb.h"
#include "api/schema/tools.pb.h"
#include "api/schema/validate.h"

namespace trencadis::schema {
namespace {

using google::protobuf::util::MessageDifferencer;

template <typename Tool>
class PropertyTest : public ::testing::Test {
 protected:
  static constexpr int kRounds = 100;

  // Calls `check` with random messages.
  template <typename Check>
  void ForRandom(const Check& check) {
    std::mt19937_64 random(20240607);
    for (int round = 0; round < kRounds; ++round) {
      Tool message;
      testing::FillAtRandom(&random, &message);
      check(message);
      if (this->HasFailure()) return;
    }
  }
};

using Tools = ::testing::Types<testing::Sample, RunClm, RunLoraClm, RunGeneration>;
TYPED_TEST_SUITE(PropertyTest, Tools);

TYPED_TEST(PropertyTest, FlagsRoundTrip) {
  int written = 0;
  this->ForRandom([&](const TypeParam& message) {
    const absl::StatusOr<std::vector<std::string>> args = ToFlags(message);
    if (!args.ok()) return;  // a list of texts of which one looks like a flag
    ++written;
    TypeParam read;
    const absl::StatusOr<ParsedFlags> flags = ParseFlags(*args, &read);
    ASSERT_TRUE(flags.ok()) << flags.status();
    EXPECT_TRUE(flags->notes.empty());
    EXPECT_TRUE(MessageDifferencer::Equals(read, message)) << message.DebugString();
  });
  EXPECT_GT(written, this->kRounds / 2);
}

TYPED_TEST(PropertyTest, JsonRoundTrips) {
  this->ForRandom([](const TypeParam& message) {
    for (const int indent : {0, 2}) {
      TypeParam read;
      const absl::Status status =
          JsonToMessage(MessageToJson(message, {/*defaults=*/false, indent}), &read);
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_TRUE(MessageDifferencer::Equals(read, message)) << message.DebugString();
    }
  });
}

TYPED_TEST(PropertyTest, JsonWithDefaultsReadsAsResolved) {
  this->ForRandom([](const TypeParam& message) {
    TypeParam read;
    const absl::Status status =
        JsonToMessage(MessageToJson(message, {/*defaults=*/true, /*indent=*/0}), &read);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(MessageToJson(read), MessageToJson(Resolved(message)));
  });
}

TYPED_TEST(PropertyTest, GivingDefaultsChangesNoVerdict) {
  this->ForRandom([](const TypeParam& message) {
    const TypeParam resolved = Resolved(message);
    EXPECT_EQ(Validate(resolved), Validate(message));
    EXPECT_EQ(Warnings(resolved), Warnings(message));
    EXPECT_TRUE(MessageDifferencer::Equals(Resolved(resolved), resolved));
  });
}

TYPED_TEST(PropertyTest, CutJsonIsAnErrorAndNeverACrash) {
  this->ForRandom([](const TypeParam& message) {
    const std::string json = MessageToJson(message, {/*defaults=*/false, /*indent=*/0});
    for (size_t length = 0; length < json.size(); length += 1 + json.size() / 16) {
      TypeParam read;
      EXPECT_FALSE(JsonToMessage(json.substr(0, length), &read).ok());
    }
  });
}

// What is read in spite of damage is a message that can be written and read again.
TYPED_TEST(PropertyTest, DamagedJsonIsReadWholeOrNotAtAll) {
  std::mt19937_64 random(7);
  this->ForRandom([&](const TypeParam& message) {
    std::string json = MessageToJson(message, {/*defaults=*/false, /*indent=*/0});
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips) {
      json[random() % json.size()] = static_cast<char>(random());
    }
    TypeParam read, again;
    if (!JsonToMessage(json, &read).ok()) return;
    ASSERT_TRUE(JsonToMessage(MessageToJson(read), &again).ok()) << json;
    EXPECT_EQ(MessageToJson(read), MessageToJson(again));
  });
}

TYPED_TEST(PropertyTest, ShuffledFlagsAreReadOrRefused) {
  std::mt19937_64 random(11);
  this->ForRandom([&](const TypeParam& message) {
    absl::StatusOr<std::vector<std::string>> args = ToFlags(message);
    if (!args.ok()) return;
    std::shuffle(args->begin(), args->end(), random);
    TypeParam read, again;
    if (!ParseFlags(*args, &read).ok()) return;
    ASSERT_TRUE(JsonToMessage(MessageToJson(read), &again).ok());
    EXPECT_TRUE(MessageDifferencer::Equals(read, again));
  });
}

}  // namespace
}  // namespace trencadis::schema
