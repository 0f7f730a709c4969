// Instructions about the little world and two ways to answer them: plainly, as the pre-training
// corpus does, and in the voice of a mosaic maker, which is what fine-tuning teaches.
//
// Deterministic in the seed. Thread-safe.
#ifndef TRENCADIS_TOOLS_QUICKSTART_INSTRUCTIONS_H_
#define TRENCADIS_TOOLS_QUICKSTART_INSTRUCTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/quickstart/world.h"

namespace trencadis::quickstart {

struct Instruction {
  std::string instruction;
  std::string input;  // Often empty.
  std::string plain_answer;
  std::string mosaic_answer;
};

// An instruction of any kind.
Instruction DrawInstruction(Dice& dice);

struct InstructionSet {
  std::vector<Instruction> train;     // About 500.
  std::vector<Instruction> held_out;  // About 60, over combinations that `train` does not contain.
};

InstructionSet MakeInstructionSet(uint32_t seed);

}  // namespace trencadis::quickstart

#endif  // TRENCADIS_TOOLS_QUICKSTART_INSTRUCTIONS_H_
