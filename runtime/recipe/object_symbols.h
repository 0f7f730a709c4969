// The functions that a piece of ELF object code defines, read without a linker.
//
// Safe on hostile bytes: every offset is checked against the object's size.
#ifndef TRENCADIS_RUNTIME_RECIPE_OBJECT_SYMBOLS_H_
#define TRENCADIS_RUNTIME_RECIPE_OBJECT_SYMBOLS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trencadis::recipe {

// Names of the global functions of a 64-bit little-endian relocatable ELF object.
absl::StatusOr<std::vector<std::string>> DefinedFunctions(absl::string_view object);

}  // namespace trencadis::recipe

#endif  // TRENCADIS_RUNTIME_RECIPE_OBJECT_SYMBOLS_H_
