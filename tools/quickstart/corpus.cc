#include "tools/quickstart/corpus.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "tools/quickstart/instructions.h"
#include "tools/quickstart/world.h"

namespace trencadis::quickstart {
namespace {

using absl::StrCat;
using absl::Substitute;

// Each drawn value has a name of its own: the order in which arguments are evaluated is
// unspecified, and the texts are the same under every compiler.

std::string ColourFact(Dice& dice) {
  const Colour& colour = dice.Pick(Colours());
  const absl::string_view often = dice.Pick(Places()).name;
  const absl::string_view sometimes = dice.Pick(Places()).name;
  return Substitute("$0 looks like $1. Many people put $2 tiles on the $3, and some on the $4.",
                    Capitalized(WithArticle(StrCat(colour.name, " tile"))), colour.image,
                    colour.name, often, sometimes);
}

std::string MaterialFact(Dice& dice) {
  const absl::string_view shape = dice.Pick(Shapes());
  const Colour& colour = dice.Pick(Colours());
  const Material& material = dice.Pick(Materials());
  const Place& place = dice.Pick(Places());
  return Substitute("This $0 $1 tile is made of $2. $3 It will go on the $4.", shape, colour.name,
                    material.name, material.saying, place.name);
}

std::string CityFact(Dice& dice) {
  const City& city = dice.Pick(Cities());
  const absl::string_view person = dice.Pick(People());
  const std::string sight = StrCat(city.colour.name, " ", city.place.name);
  return Substitute("In $0 there is $1. The $2 in $0 is made of $3. $4 goes to $0 to see the $5.",
                    city.name, WithArticle(sight), city.place.name, city.material.name, person,
                    sight);
}

std::string Sum(Dice& dice) {
  const absl::string_view person = dice.Pick(People());
  const absl::string_view colour = dice.Pick(Colours()).name;
  const int a = 1 + dice.Below(kLargestAddend);
  const int b = 1 + dice.Below(kLargestAddend);
  const auto tiles = [colour](int n) {
    return Substitute("$0 $1 $2", NumberWord(n), colour, n == 1 ? "tile" : "tiles");
  };
  return Substitute("$0 has $1. Then $0 finds $2. Now $0 has $3, because $4 and $5 make $6.",
                    person, tiles(a), tiles(b), tiles(a + b), NumberWord(a), NumberWord(b),
                    NumberWord(a + b));
}

std::string Story(Dice& dice) {
  const absl::string_view person = dice.Pick(People());
  const absl::string_view shape = dice.Pick(Shapes());
  const Colour& colour = dice.Pick(Colours());
  const absl::string_view material = dice.Pick(Materials()).name;
  const absl::string_view place = dice.Pick(Places()).name;
  return StrCat(
      Substitute("$0 takes a $1 $2 tile made of $3 and breaks it with a hammer. ", person, shape,
                 colour.name, material),
      Substitute("The pieces go on the $0, one by one. Now the $0 is $1, and it looks like $2.",
                 place, colour.name, colour.image));
}

// Says the same tile twice, so that the model learns to copy what was asked for.
std::string Request(Dice& dice) {
  const absl::string_view asking = dice.Pick(People());
  const absl::string_view giving = dice.Pick(People());
  const absl::string_view shape = dice.Pick(Shapes());
  const absl::string_view colour = dice.Pick(Colours()).name;
  const absl::string_view material = dice.Pick(Materials()).name;
  return Substitute("$0 asks for a $2 $3 tile made of $4. $1 gives $0 a $2 $3 tile made of $4.",
                    asking, giving, shape, colour, material);
}

// The body of a Stanford Alpaca record; short, so that the model sees many.
std::string Exchange(const Instruction& record) {
  return StrCat("### Instruction:\n", record.instruction,
                record.input.empty() ? "" : StrCat("\n\n### Input:\n", record.input),
                "\n\n### Response:", record.plain_answer);
}

std::string ShortAnswer(Dice& dice) { return Exchange(DrawInstruction(dice)); }

// The whole layout, as fine-tuning and prompts have it.
std::string PlainAnswer(Dice& dice) {
  const Instruction record = DrawInstruction(dice);
  return StrCat("Below is an instruction that describes a task",
                record.input.empty() ? "" : ", paired with an input that provides further context",
                ". Write a response that appropriately completes the request.\n\n",
                Exchange(record));
}

}  // namespace

std::vector<std::string> MakeCorpus(uint32_t seed, int count) {
  constexpr std::string (*kKinds[])(Dice&) = {
      ColourFact,  MaterialFact, CityFact,    Sum,         Story,       Request,    Request,
      ShortAnswer, ShortAnswer,  ShortAnswer, ShortAnswer, ShortAnswer, PlainAnswer};
  Dice dice(seed);
  std::vector<std::string> documents;
  documents.reserve(count);
  for (int i = 0; i < count; ++i) documents.push_back(kKinds[dice.Below(std::size(kKinds))](dice));
  return documents;
}

}  // namespace trencadis::quickstart
