// libsentencepiece carries its own, older Protobuf. In one process with ours each must keep to its
// own: see third_party/protobuf/hidden.lds.
#include <google/protobuf/struct.pb.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace {

class OneText : public sentencepiece::SentenceIterator {
 public:
  bool done() const override { return done_; }
  void Next() override { done_ = true; }
  const std::string& value() const override { return text_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  std::string text_ = "one tile, two tiles, three tiles";
  bool done_ = false;
};

TEST(Coexistence, SentencePieceAndProtobufShareAProcess) {
  google::protobuf::Struct message;
  (*message.mutable_fields())["tiles"].set_number_value(3);

  OneText texts;
  std::string model;
  const auto trained = sentencepiece::SentencePieceTrainer::Train(
      {{"model_type", "bpe"}, {"vocab_size", "20"}, {"minloglevel", "2"}}, &texts, &model);
  ASSERT_TRUE(trained.ok()) << trained.ToString();
  sentencepiece::SentencePieceProcessor processor;
  ASSERT_TRUE(processor.LoadFromSerializedProto(model).ok());
  std::string decoded;
  ASSERT_TRUE(processor.Decode(processor.EncodeAsIds("two tiles"), &decoded).ok());
  EXPECT_EQ(decoded, "two tiles");

  google::protobuf::Struct copy;
  ASSERT_TRUE(copy.ParseFromString(message.SerializeAsString()));
  EXPECT_EQ(copy.fields().at("tiles").number_value(), 3);
}

}  // namespace
