#include "training/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace trencadis::training {
namespace {

using ::testing::ElementsAre;

std::vector<int32_t> Values(const Literal& literal) {
  return {literal.data<int32_t>().begin(), literal.data<int32_t>().end()};
}

TEST(CollateTest, ShiftsLabelsAndPadsOnTheRight) {
  const Example longer{{5, 6, 7}, {-100, 6, 7}, {}, {}};
  const Example shorter{{8, 9}, {8, 9}, {}, {}};
  const HostBatch batch = Collate({&longer, &shorter}, 4, {.pad_token = 1});
  EXPECT_EQ(batch.ids.shape(), (Shape{2, 3}));
  EXPECT_THAT(Values(batch.ids), ElementsAre(5, 6, 7, 8, 9, 1));
  EXPECT_THAT(Values(batch.labels), ElementsAre(6, 7, -100, 9, -100, -100));
  EXPECT_THAT(Values(*batch.segments), ElementsAre(0, 0, 0, 0, 0, -1));
  EXPECT_THAT(Values(batch.samples), ElementsAre(4, 5));
  EXPECT_EQ(batch.target_tokens, 3);
  EXPECT_FALSE(batch.positions.has_value());
}

TEST(CollateTest, NoTargetCrossesADocument) {
  const Example packed{{1, 2, 3, 4}, {1, 2, 3, 4}, {0, 0, 1, 1}, {0, 1, 0, 1}};
  const HostBatch batch = Collate({&packed}, 0, {.pad_to_multiple = 8});
  EXPECT_EQ(batch.ids.shape(), (Shape{1, 8}));
  EXPECT_THAT(Values(batch.labels), ElementsAre(2, -100, 4, -100, -100, -100, -100, -100));
  EXPECT_THAT(Values(*batch.segments), ElementsAre(0, 0, 1, 1, -1, -1, -1, -1));
  EXPECT_THAT(Values(*batch.positions), ElementsAre(0, 1, 0, 1, 4, 5, 6, 7));
}

TEST(CollateTest, FullRowsNeedNoSegments) {
  const Example row{{1, 2}, {1, 2}, {}, {}};
  EXPECT_FALSE(Collate({&row, &row}, 0, {}).segments.has_value());
}

TEST(EpochOrderTest, IsAPermutationThatSeedAndEpochDecide) {
  const std::vector<int64_t> order = EpochOrder(100, 42, 0);
  std::vector<int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(sorted[i], i);
  EXPECT_EQ(order, EpochOrder(100, 42, 0));
  EXPECT_NE(order, EpochOrder(100, 42, 1));
  EXPECT_NE(order, EpochOrder(100, 43, 0));
  EXPECT_TRUE(EpochOrder(0, 1, 0).empty());
}

}  // namespace
}  // namespace trencadis::training
