// ElfObject: a checked view of one relocatable x86-64 ELF object (System V ABI, chapter 4).
//
// Only what a kernel object holds: allocated sections, symbols, RELA relocations. Every offset,
// size and index is verified here, so users index without further checks. Refers to the caller's
// bytes.
#ifndef TRENCADIS_RUNTIME_CODEGEN_ELF_OBJECT_H_
#define TRENCADIS_RUNTIME_CODEGEN_ELF_OBJECT_H_

#include <elf.h>

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trencadis::codegen {

struct ElfSection {
  absl::string_view bytes;  // empty for zero-filled sections
  uint64_t size = 0;
  uint64_t alignment = 1;  // a power of two, at most a page
  bool allocated = false;  // has a place in memory
  bool executable = false;
  std::vector<Elf64_Rela> relocations;  // symbol index and type are not yet checked against use
};

struct ElfSymbol {
  absl::string_view name;
  int section = 0;     // 0: undefined here
  uint64_t value = 0;  // offset in its section, within its size
  bool is_global_function = false;
};

struct ElfObject {
  std::vector<ElfSection> sections;  // by ELF section index
  std::vector<ElfSymbol> symbols;    // by ELF symbol index

  // DataLoss when `bytes` is not an object this loader can place.
  static absl::StatusOr<ElfObject> Parse(absl::string_view bytes);
};

}  // namespace trencadis::codegen

#endif  // TRENCADIS_RUNTIME_CODEGEN_ELF_OBJECT_H_
