#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/quickstart/corpus.h"
#include "tools/quickstart/instructions.h"
#include "tools/quickstart/world.h"

namespace trencadis::quickstart {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

TEST(World, ArticlesFollowTheSound) {
  EXPECT_EQ(WithArticle("orange wall"), "an orange wall");
  EXPECT_EQ(WithArticle("blue wall"), "a blue wall");
  EXPECT_EQ(Capitalized("blue"), "Blue");
  EXPECT_EQ(NumberWord(0), "zero");
  EXPECT_EQ(NumberWord(2 * kLargestAddend), "twenty");
}

TEST(World, ShuffleKeepsEveryItem) {
  Dice dice(3);
  std::vector<int> items = {1, 2, 3, 4, 5, 6, 7, 8};
  dice.Shuffle(items);
  EXPECT_THAT(items, Not(testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8)));
  EXPECT_THAT(items, testing::UnorderedElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(Corpus, IsDeterministicAndDependsOnTheSeed) {
  EXPECT_EQ(MakeCorpus(1, 300), MakeCorpus(1, 300));
  EXPECT_NE(MakeCorpus(1, 300), MakeCorpus(2, 300));
}

TEST(Corpus, HoldsEveryKindOfDocument) {
  const std::vector<std::string> documents = MakeCorpus(1, 300);
  ASSERT_THAT(documents, SizeIs(300));
  for (const char* mark : {"looks like", "This ", "asks for", "In Girona", "because",
                           "with a hammer", "### Response:", "### Input:\n"}) {
    EXPECT_THAT(documents, Contains(HasSubstr(mark)));
  }
  // A template with a hole left open, or filled twice, would show.
  EXPECT_THAT(documents, Not(Contains(HasSubstr("$"))));
  EXPECT_THAT(documents, Not(Contains(HasSubstr("  "))));
  EXPECT_THAT(documents, Not(Contains(HasSubstr("a orange"))));
}

TEST(Instructions, HeldOutQuestionsAreNew) {
  const InstructionSet set = MakeInstructionSet(7);
  EXPECT_THAT(set.train, SizeIs(496));
  EXPECT_THAT(set.held_out, SizeIs(64));
  std::set<std::string> trained, answers;
  for (const Instruction& r : set.train) {
    trained.insert(r.instruction + "|" + r.input);
    answers.insert(r.mosaic_answer);
  }
  EXPECT_THAT(trained, SizeIs(496)) << "a question is asked twice";
  for (const Instruction& r : set.held_out) {
    EXPECT_FALSE(trained.contains(r.instruction + "|" + r.input)) << r.instruction;
  }
}

TEST(Instructions, TheTwoVoicesDiffer) {
  for (const Instruction& r : MakeInstructionSet(7).train) {
    EXPECT_NE(r.plain_answer, r.mosaic_answer);
    EXPECT_TRUE(absl::EndsWith(r.mosaic_answer, ".")) << r.mosaic_answer;
  }
}

}  // namespace
}  // namespace trencadis::quickstart
