#include "tools/quickstart/world.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace trencadis::quickstart {
namespace {

constexpr Colour kColours[] = {
    {"blue", "the sea"},           {"white", "the first snow"},
    {"green", "a pine wood"},      {"yellow", "a lemon grove"},
    {"red", "a field of poppies"}, {"orange", "the evening sun"},
    {"violet", "a lavender hill"}, {"black", "a night without a moon"},
    {"silver", "the rain"},        {"gold", "the late wheat"},
    {"turquoise", "a quiet cove"}, {"pink", "the morning sky"},
};

constexpr absl::string_view kShapes[] = {"round", "square", "small",  "long",
                                         "thin",  "curved", "broken", "smooth"};

constexpr Material kMaterials[] = {
    {"glass", "Hold it up and the light walks through."},
    {"clay", "It still remembers the fire."},
    {"marble", "It stays cool under the hand, even in August."},
    {"stone", "It is older than the house it will live in."},
    {"porcelain", "Tap it once and it sings."},
    {"slate", "Rain only makes it better."},
};

constexpr Place kPlaces[] = {
    {"bench", "sitting down"},        {"wall", "standing still"},
    {"fountain", "learning to sing"}, {"roof", "close to the birds"},
    {"arch", "holding its breath"},   {"tower", "looking far away"},
    {"door", "coming home"},          {"garden", "taking root"},
    {"chimney", "dreaming of smoke"}, {"stair", "climbing slowly"},
};

const City kCities[] = {
    {"Barcelona", kColours[10], kPlaces[0], kMaterials[4]},
    {"Girona", kColours[2], kPlaces[4], kMaterials[3]},
    {"Sitges", kColours[1], kPlaces[1], kMaterials[2]},
    {"Valencia", kColours[5], kPlaces[3], kMaterials[1]},
    {"Tarragona", kColours[9], kPlaces[5], kMaterials[3]},
    {"Reus", kColours[4], kPlaces[8], kMaterials[1]},
    {"Lleida", kColours[3], kPlaces[6], kMaterials[5]},
    {"Vic", kColours[6], kPlaces[2], kMaterials[0]},
};

constexpr absl::string_view kPeople[] = {"Marta", "Pau", "Aina", "Jordi", "Nuria", "Biel"};

constexpr absl::string_view kNumbers[2 * kLargestAddend + 1] = {
    "zero",     "one",     "two",     "three",     "four",     "five",     "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",   "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"};

}  // namespace

absl::Span<const Colour> Colours() { return kColours; }
absl::Span<const absl::string_view> Shapes() { return kShapes; }
absl::Span<const Material> Materials() { return kMaterials; }
absl::Span<const Place> Places() { return kPlaces; }
absl::Span<const City> Cities() { return kCities; }
absl::Span<const absl::string_view> People() { return kPeople; }

absl::string_view NumberWord(int number) { return kNumbers[number]; }

std::string Capitalized(absl::string_view word) {
  std::string result(word);
  result[0] = absl::ascii_toupper(result[0]);
  return result;
}

std::string WithArticle(absl::string_view noun_phrase) {
  const bool vowel = absl::string_view("aeiou").find(noun_phrase[0]) != absl::string_view::npos;
  return absl::StrCat(vowel ? "an " : "a ", noun_phrase);
}

}  // namespace trencadis::quickstart
