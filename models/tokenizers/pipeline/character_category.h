// General categories as of an older Unicode. The tokenizers library classifies with tables of
// Unicode 8 and 9; to a character that came later they assign no category.
#ifndef TRENCADIS_MODELS_TOKENIZERS_PIPELINE_CHARACTER_CATEGORY_H_
#define TRENCADIS_MODELS_TOKENIZERS_PIPELINE_CHARACTER_CATEGORY_H_

#include <unicode/uchar.h>

#include <cstdint>

namespace trencadis::tokenizers::pipeline {

// ICU's mask (U_GC_..._MASK) of the category that `code_point` had in `unicode_version`.
inline uint32_t CategoryMask(UChar32 code_point, int unicode_version) {
  UVersionInfo age;
  u_charAge(code_point, age);
  return age[0] <= unicode_version ? U_GET_GC_MASK(code_point) : U_GC_CN_MASK;
}

}  // namespace trencadis::tokenizers::pipeline

#endif  // TRENCADIS_MODELS_TOKENIZERS_PIPELINE_CHARACTER_CATEGORY_H_
