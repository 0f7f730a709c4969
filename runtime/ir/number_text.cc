#include "runtime/ir/number_text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace trencadis::ir {
namespace {

template <typename Float, typename Bits>
std::string FloatToText(Float value) {
  if (std::isnan(value)) return absl::StrCat("nan:", absl::Hex(std::bit_cast<Bits>(value)));
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

template <typename Float, typename Bits>
bool ParseFloat(absl::string_view text, Float* value) {
  if (absl::ConsumePrefix(&text, "nan:")) {
    Bits bits = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
    *value = std::bit_cast<Float>(bits);
    return result.ec == std::errc() && result.ptr == text.data() + text.size() &&
           std::isnan(*value);
  }
  const bool negative = absl::ConsumePrefix(&text, "-");
  if (text == "inf") {
    *value = std::numeric_limits<Float>::infinity();
  } else {
    const bool hexadecimal = absl::ConsumePrefix(&text, "0x");
    // from_chars alone would also take "-", "infinity" and "nan(...)".
    if (text.empty() ||
        !(hexadecimal ? absl::ascii_isxdigit(text[0]) : absl::ascii_isdigit(text[0]))) {
      return false;
    }
    const auto format = hexadecimal ? std::chars_format::hex : std::chars_format::general;
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, *value, format);
    if (result.ec != std::errc() || result.ptr != end) return false;
  }
  if (negative) *value = -*value;
  return true;
}

// A bf16 is printed as the f32 it widens to.
bool ParseBf16(absl::string_view text, Literal& literal, int64_t index) {
  float value = 0;
  if (!ParseFloat<float, uint32_t>(text, &value)) return false;
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0xffff) != 0) return false;
  literal.data<BF16>()[index] = {static_cast<uint16_t>(bits >> 16)};
  return true;
}

template <typename T>
bool StoreInt(absl::string_view text, Literal& literal, int64_t index) {
  int64_t value = 0;
  if (!ParseInt(text, &value) || value < std::numeric_limits<T>::min() ||
      value > std::numeric_limits<T>::max()) {
    return false;
  }
  literal.data<T>()[index] = static_cast<T>(value);
  return true;
}

}  // namespace

std::string DoubleToText(double value) { return FloatToText<double, uint64_t>(value); }

bool ParseDouble(absl::string_view text, double* value) {
  return ParseFloat<double, uint64_t>(text, value);
}

bool ParseInt(absl::string_view text, int64_t* value) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, *value);
  return result.ec == std::errc() && result.ptr == end;
}

std::string ElementToText(const Literal& literal, int64_t index) {
  switch (literal.dtype()) {
    case DType::kF32:
      return FloatToText<float, uint32_t>(literal.data<float>()[index]);
    case DType::kBF16:
      return FloatToText<float, uint32_t>(ToF32(literal.data<BF16>()[index]));
    case DType::kI32:
      return absl::StrCat(literal.data<int32_t>()[index]);
    case DType::kI64:
      return absl::StrCat(literal.data<int64_t>()[index]);
    case DType::kBool:
      return literal.data<bool>()[index] ? "true" : "false";
    case DType::kU8:
      return absl::StrCat(literal.data<uint8_t>()[index]);
  }
  return "";
}

bool ParseElement(absl::string_view text, Literal& literal, int64_t index) {
  switch (literal.dtype()) {
    case DType::kF32:
      return ParseFloat<float, uint32_t>(text, &literal.data<float>()[index]);
    case DType::kBF16:
      return ParseBf16(text, literal, index);
    case DType::kI32:
      return StoreInt<int32_t>(text, literal, index);
    case DType::kI64:
      return StoreInt<int64_t>(text, literal, index);
    case DType::kBool:
      literal.data<bool>()[index] = text == "true";
      return text == "true" || text == "false";
    case DType::kU8:
      return StoreInt<uint8_t>(text, literal, index);
  }
  return false;
}

}  // namespace trencadis::ir
