#include "tools/quickstart/tokenizer_trainer.h"

#include <sentencepiece_processor.h>

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/quickstart/corpus.h"

namespace trencadis::quickstart {
namespace {

using ::testing::Contains;
using ::testing::Not;

TEST(TokenizerTrainer, RoundTripsTheCorpusAndKeepsNewlinesAsBytes) {
  const std::vector<std::string> documents = MakeCorpus(1, 500);
  const std::string model = TrainTokenizer(documents, 600).model;
  EXPECT_EQ(model, TrainTokenizer(documents, 600).model) << "training is not deterministic";
  sentencepiece::SentencePieceProcessor pieces;
  ASSERT_TRUE(pieces.LoadFromSerializedProto(model).ok());
  EXPECT_EQ(pieces.GetPieceSize(), 600);
  EXPECT_EQ(pieces.bos_id(), 1);
  EXPECT_EQ(pieces.eos_id(), 2);
  std::string decoded;
  for (const std::string& document : documents) {
    const std::vector<int> ids = pieces.EncodeAsIds(document);
    EXPECT_THAT(ids, Not(Contains(pieces.unk_id())));
    ASSERT_TRUE(pieces.Decode(ids, &decoded).ok());
    EXPECT_EQ(decoded, document);
  }
  EXPECT_THAT(pieces.EncodeAsPieces("a\nb"), Contains("<0x0A>"));
}

TEST(TokenizerTrainer, RefusesAVocabularyThatTheTextsCannotFill) {
  const TrainedTokenizer result = TrainTokenizer({"one tile"}, 5000);
  EXPECT_EQ(result.model, "");
  EXPECT_NE(result.error, "");
}

}  // namespace
}  // namespace trencadis::quickstart
