// The pre-training corpus: short documents about the little world, in plain words.
#ifndef TRENCADIS_TOOLS_QUICKSTART_CORPUS_H_
#define TRENCADIS_TOOLS_QUICKSTART_CORPUS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace trencadis::quickstart {

// `count` documents of 10 to 60 words: facts about colours, materials, cities and sums, stories and
// requests from a workshop, and instructions with plain answers, some of them in the whole Alpaca
// layout, so that the model knows the layout before fine-tuning teaches it a voice. Deterministic
// in `seed`.
std::vector<std::string> MakeCorpus(uint32_t seed, int count);

}  // namespace trencadis::quickstart

#endif  // TRENCADIS_TOOLS_QUICKSTART_CORPUS_H_
