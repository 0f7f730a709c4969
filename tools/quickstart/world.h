// The little world that the quickstart's texts speak about: tiles, their colours, shapes and
// materials, the places they end up in, and eight cities. A trencadis is a mosaic of broken tiles.
//
// Everything is constant; equal seeds give equal texts on every platform. Dice is used by one
// thread, all else by any number.
#ifndef TRENCADIS_TOOLS_QUICKSTART_WORLD_H_
#define TRENCADIS_TOOLS_QUICKSTART_WORLD_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace trencadis::quickstart {

struct Colour {
  absl::string_view name;
  absl::string_view image;  // What the mosaic maker sees in it: "the sea".
};

struct Material {
  absl::string_view name;
  absl::string_view saying;  // A sentence of the mosaic maker about it.
};

struct Place {
  absl::string_view name;
  absl::string_view manner;  // How it lives: "standing still".
};

struct City {
  absl::string_view name;
  const Colour& colour;
  const Place& place;
  const Material& material;
};

absl::Span<const Colour> Colours();
absl::Span<const absl::string_view> Shapes();
absl::Span<const Material> Materials();
absl::Span<const Place> Places();
absl::Span<const City> Cities();
absl::Span<const absl::string_view> People();

inline constexpr int kLargestAddend = 10;
// "zero" .. "twenty" for 0 .. 2 * kLargestAddend.
absl::string_view NumberWord(int number);

// "blue" -> "Blue".
std::string Capitalized(absl::string_view word);
// "orange wall" -> "an orange wall".
std::string WithArticle(absl::string_view noun_phrase);

// A source of choices. std::mt19937 is the same everywhere; the standard's distributions are not.
class Dice {
 public:
  explicit Dice(uint32_t seed) : engine_(seed) {}

  // Uniform in [0, n) up to a bias below n / 2^32. n > 0.
  size_t Below(size_t n) { return engine_() % n; }
  template <typename T>
  const T& Pick(absl::Span<const T> choices) {
    return choices[Below(choices.size())];
  }
  template <typename T>
  void Shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[Below(i)]);
  }

 private:
  std::mt19937 engine_;
};

}  // namespace trencadis::quickstart

#endif  // TRENCADIS_TOOLS_QUICKSTART_WORLD_H_
