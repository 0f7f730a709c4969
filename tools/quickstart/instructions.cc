#include "tools/quickstart/instructions.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"

namespace trencadis::quickstart {
namespace {

using absl::StrCat;
using absl::Substitute;

Instruction DescribeTile(absl::string_view shape, const Colour& colour, const Material& material,
                         size_t phrasing) {
  const std::string tile = Substitute("a $0 $1 tile made of $2", shape, colour.name, material.name);
  const std::array<std::string, 3> questions = {
      StrCat("Describe ", tile, "."), StrCat("What is ", tile, " like?"), "Describe this tile."};
  return {questions[phrasing],
          phrasing == 2 ? Substitute("$0, $1, $2", shape, colour.name, material.name) : "",
          Substitute("It is a $0 tile. Its colour is $1. It is made of $2.", shape, colour.name,
                     material.name),
          Substitute("$0 and $1, a piece of $2. $3", Capitalized(shape), colour.name, colour.image,
                     material.saying)};
}

Instruction PairColours(const Colour& a, const Colour& b) {
  return {Substitute("Put $0 beside $1.", a.name, b.name), "",
          Substitute("$0 and $1 are two colours. The $0 tile is beside the $1 tile.",
                     Capitalized(a.name), b.name),
          Substitute("$0 beside $1: $2 meets $3.", Capitalized(a.name), b.name, a.image, b.image)};
}

Instruction AddTiles(int a, int b) {
  const auto tiles = [](int n) { return StrCat(NumberWord(n), n == 1 ? " tile" : " tiles"); };
  return {Substitute("How many tiles are $0 and $1?", tiles(a), tiles(b)), "",
          Substitute("$0 and $1 make $2.", Capitalized(tiles(a)), tiles(b), tiles(a + b)),
          Substitute("$0 and $1: $2, and no two alike.", Capitalized(NumberWord(a)), NumberWord(b),
                     tiles(a + b))};
}

Instruction VisitCity(const City& city, size_t phrasing) {
  const std::array<std::string, 3> questions = {StrCat("What can I see in ", city.name, "?"),
                                                StrCat("Tell me about ", city.name, "."),
                                                StrCat("Why should I go to ", city.name, "?")};
  return {questions[phrasing], "",
          Substitute("There is $0 in $1. It is made of $2.",
                     WithArticle(StrCat(city.colour.name, " ", city.place.name)), city.name,
                     city.material.name),
          Substitute("Go to $0 and look for $1. There the $2 is $3, $4.", city.name,
                     city.colour.name, city.place.name, city.colour.image, city.place.manner)};
}

Instruction PraisePlace(const Colour& colour, const Place& place) {
  const std::string thing = WithArticle(StrCat(colour.name, " ", place.name));
  return {Substitute("Write a line for $0.", thing), "",
          Substitute("The $0 is $1. It has many $1 tiles.", place.name, colour.name),
          Substitute("$0 is $1, $2.", Capitalized(thing), colour.image, place.manner)};
}

// Every instruction of one kind, in a fixed order.
std::vector<Instruction> AllTiles() {
  std::vector<Instruction> all;
  for (absl::string_view shape : Shapes()) {
    for (const Colour& colour : Colours()) {
      for (const Material& material : Materials()) {
        all.push_back(DescribeTile(shape, colour, material, all.size() % 3));
      }
    }
  }
  return all;
}

std::vector<Instruction> AllPairs() {
  std::vector<Instruction> all;
  for (const Colour& a : Colours()) {
    for (const Colour& b : Colours()) {
      if (&a != &b) all.push_back(PairColours(a, b));
    }
  }
  return all;
}

std::vector<Instruction> AllSums() {
  std::vector<Instruction> all;
  for (int a = 1; a <= kLargestAddend; ++a) {
    for (int b = 1; b <= kLargestAddend; ++b) all.push_back(AddTiles(a, b));
  }
  return all;
}

std::vector<Instruction> AllVisits() {
  std::vector<Instruction> all;
  for (const City& city : Cities()) {
    for (size_t phrasing = 0; phrasing < 3; ++phrasing) all.push_back(VisitCity(city, phrasing));
  }
  return all;
}

std::vector<Instruction> AllPraises() {
  std::vector<Instruction> all;
  for (const Colour& colour : Colours()) {
    for (const Place& place : Places()) all.push_back(PraisePlace(colour, place));
  }
  return all;
}

}  // namespace

Instruction DrawInstruction(Dice& dice) {
  // Named, because the order in which arguments are evaluated is unspecified.
  const size_t kind = dice.Below(5);
  const Colour& colour = dice.Pick(Colours());
  const size_t phrasing = dice.Below(3);
  if (kind == 0) {
    const absl::string_view shape = dice.Pick(Shapes());
    return DescribeTile(shape, colour, dice.Pick(Materials()), phrasing);
  }
  if (kind == 1) return PairColours(colour, dice.Pick(Colours()));
  if (kind == 2) {
    const int a = 1 + dice.Below(kLargestAddend);
    const int b = 1 + dice.Below(kLargestAddend);
    return AddTiles(a, b);
  }
  if (kind == 3) return VisitCity(dice.Pick(Cities()), phrasing);
  return PraisePlace(colour, dice.Pick(Places()));
}

InstructionSet MakeInstructionSet(uint32_t seed) {
  struct Share {
    std::vector<Instruction> all;
    size_t train, held_out;
  };
  Share shares[] = {{AllTiles(), 220, 24},
                    {AllPairs(), 100, 12},
                    {AllSums(), 70, 10},
                    {AllVisits(), 16, 8},
                    {AllPraises(), 90, 10}};
  Dice dice(seed);
  InstructionSet set;
  for (Share& share : shares) {
    dice.Shuffle(share.all);
    const auto boundary = share.all.begin() + share.train;
    set.train.insert(set.train.end(), share.all.begin(), boundary);
    set.held_out.insert(set.held_out.end(), boundary, boundary + share.held_out);
  }
  dice.Shuffle(set.train);
  return set;
}

}  // namespace trencadis::quickstart
