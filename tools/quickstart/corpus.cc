#include "tools/quickstart/corpus.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "tools/quickstart/instructions.h"
#include "tools/quickstart/world.h"

namespace trencadis::quickstart {
namespace {

using absl::StrCat;
using absl::Substitute;

std::string ColourFact(Dice& dice) {
  const Colour& colour = dice.Pick(Colours());
  const std::string tile = WithArticle(StrCat(colour.name, " tile"));
  return Substitute("$0 looks like $1. Many people put $2 tiles on the $3, and some put them on "
                    "the $4.",
                    Capitalized(tile), colour.image, colour.name, dice.Pick(Places()).name,
                    dice.Pick(Places()).name);
}

std::string MaterialFact(Dice& dice) {
  const Material& material = dice.Pick(Materials());
  const std::string tile = StrCat(dice.Pick(Shapes()), " ", dice.Pick(Colours()).name, " tile");
  return Substitute("This $0 is made of $1. $2 It will go on the $3.", tile, material.name,
                    material.saying, dice.Pick(Places()).name);
}

std::string CityFact(Dice& dice) {
  const City& city = dice.Pick(Cities());
  return Substitute("In $0 there is $1. The $2 in $0 is made of $3. $4 likes to go to $0 and look "
                    "at the $5 $2.",
                    city.name, WithArticle(StrCat(city.colour.name, " ", city.place.name)),
                    city.place.name, city.material.name, dice.Pick(People()), city.colour.name);
}

std::string Sum(Dice& dice) {
  const int a = 1 + dice.Below(kLargestAddend), b = 1 + dice.Below(kLargestAddend);
  const std::string kind(dice.Pick(Colours()).name);
  const auto tiles = [&kind](int n) {
    return Substitute("$0 $1 $2", NumberWord(n), kind, n == 1 ? "tile" : "tiles");
  };
  return Substitute("$0 has $1. Then $0 finds $2. Now $0 has $3, because $4 and $5 make $6.",
                    dice.Pick(People()), tiles(a), tiles(b), tiles(a + b), NumberWord(a),
                    NumberWord(b), NumberWord(a + b));
}

std::string Story(Dice& dice) {
  const Colour& colour = dice.Pick(Colours());
  const absl::string_view place = dice.Pick(Places()).name;
  return Substitute("$0 takes a $1 $2 tile made of $3 and breaks it with a hammer. The pieces go "
                    "on the $4, one by one. Now the $4 is $2, and it looks like $5.",
                    dice.Pick(People()), dice.Pick(Shapes()), colour.name,
                    dice.Pick(Materials()).name, place, colour.image);
}

// The layout of Stanford Alpaca's records.
std::string PlainAnswer(Dice& dice) {
  const Instruction record = DrawInstruction(dice);
  const std::string request = "a response that appropriately completes the request.\n\n";
  if (record.input.empty()) {
    return StrCat("Below is an instruction that describes a task. Write ", request,
                  "### Instruction:\n", record.instruction, "\n\n### Response:",
                  record.plain_answer);
  }
  return StrCat("Below is an instruction that describes a task, paired with an input that provides "
                "further context. Write ",
                request, "### Instruction:\n", record.instruction, "\n\n### Input:\n", record.input,
                "\n\n### Response:", record.plain_answer);
}

}  // namespace

std::vector<std::string> MakeCorpus(uint32_t seed, int count) {
  constexpr std::string (*kKinds[])(Dice&) = {ColourFact, MaterialFact, CityFact,
                                              Sum,        Story,        PlainAnswer};
  Dice dice(seed);
  std::vector<std::string> documents;
  documents.reserve(count);
  for (int i = 0; i < count; ++i) documents.push_back(kKinds[dice.Below(std::size(kKinds))](dice));
  return documents;
}

}  // namespace trencadis::quickstart
