#include "api/schema/nearest.h"

#include <gtest/gtest.h>

namespace trencadis::schema {
namespace {

TEST(EditDistanceTest, CountsEdits) {
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("abc", ""), 3);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
  EXPECT_EQ(EditDistance("learnign", "learning"), 1) << "a swap is one edit";
  EXPECT_EQ(EditDistance("same", "same"), 0);
}

TEST(NearestTest, TakesTheNearestUnlessItIsFar) {
  EXPECT_EQ(Nearest("lora_rnak", {"lora_alpha", "lora_rank"}), "lora_rank");
  EXPECT_EQ(Nearest("zzzzzz", {"lora_alpha", "lora_rank"}), "");
  EXPECT_EQ(Nearest("anything", {}), "");
  EXPECT_EQ(DidYouMean("lora_rnak", {"lora_rank"}), ": did you mean lora_rank?");
  EXPECT_EQ(DidYouMean("zzzzzz", {"lora_rank"}), "");
}

}  // namespace
}  // namespace trencadis::schema
