#include "api/schema/testing/random_message.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "api/schema/catalog.h"
#include "api/schema/value_text.h"
#include "runtime/base/status.h"

namespace trencadis::schema::testing {
namespace {

using google::protobuf::FieldDescriptor;

uint64_t Below(std::mt19937_64* random, uint64_t limit) { return (*random)() % limit; }

std::string RandomText(std::mt19937_64* random) {
  static const char* const kPieces[] = {"a",  "q_proj", "--flag", "-1", " ", "\"",   "'",
                                        "\n", "\x01",   "é",      "漢", "😀", "\\",   "=",
                                        "{",  "true",   "None",   ",",  "/", "3.0.0"};
  std::string text;
  for (uint64_t n = Below(random, 5); n > 0; --n)
    text += kPieces[Below(random, std::size(kPieces))];
  return text;
}

double RandomDouble(std::mt19937_64* random) {
  static const double kCorners[] = {0.0,
                                    -0.0,
                                    1e-6,
                                    0.1,
                                    -1,
                                    std::numeric_limits<double>::max(),
                                    std::numeric_limits<double>::denorm_min()};
  if (Below(random, 2) == 0) return kCorners[Below(random, std::size(kCorners))];
  const uint64_t bits = (*random)();
  double value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return std::isfinite(value) ? value : 0.5;
}

template <typename Int>
Int RandomInt(std::mt19937_64* random) {
  switch (Below(random, 4)) {
    case 0:
      return std::numeric_limits<Int>::min();
    case 1:
      return std::numeric_limits<Int>::max();
    case 2:
      return static_cast<Int>(Below(random, 10));
    default:
      return static_cast<Int>((*random)());
  }
}

std::string RandomValue(std::mt19937_64* random, const FieldDescriptor* field) {
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return Below(random, 2) == 0 ? "true" : "false";
    case FieldDescriptor::CPPTYPE_INT32:
      return std::to_string(RandomInt<int32_t>(random));
    case FieldDescriptor::CPPTYPE_INT64:
      return std::to_string(RandomInt<int64_t>(random));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return FormatDouble(RandomDouble(random));
    default:
      return RandomText(random);
  }
}

}  // namespace

void FillAtRandom(std::mt19937_64* random, google::protobuf::Message* message) {
  const Catalog* catalog = Catalog::Of(message->GetDescriptor()).value();
  for (const Option& option : catalog->options()) {
    if (Below(random, 3) != 0) continue;
    const FieldDescriptor* field = option.field();
    for (uint64_t n = field->is_repeated() ? 1 + Below(random, 3) : 1; n > 0; --n) {
      TRENCADIS_CHECK(SetFromText(option.Mutable(message), field, RandomValue(random, field)).ok());
    }
  }
}

}  // namespace trencadis::schema::testing
