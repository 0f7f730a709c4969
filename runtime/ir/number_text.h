// Numbers of the graph text form: exact both ways.
#ifndef TRENCADIS_RUNTIME_IR_NUMBER_TEXT_H_
#define TRENCADIS_RUNTIME_IR_NUMBER_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/core/literal.h"

namespace trencadis::ir {

// Shortest decimal that reads back to the same bits, always with '.', 'e', "inf" or "nan:BITS".
std::string DoubleToText(double value);
// Reads what DoubleToText writes, and C hexadecimal floats. False when `text` is no number.
bool ParseDouble(absl::string_view text, double* value);
// Decimal, with an optional '-'. False when out of range.
bool ParseInt(absl::string_view text, int64_t* value);

// Element `index` of `literal`: a float as above (in its own precision), an integer, true or false.
std::string ElementToText(const Literal& literal, int64_t index);
// Stores the element that `text` spells. False when it is none of the literal's type.
bool ParseElement(absl::string_view text, Literal& literal, int64_t index);

}  // namespace trencadis::ir

#endif  // TRENCADIS_RUNTIME_IR_NUMBER_TEXT_H_
