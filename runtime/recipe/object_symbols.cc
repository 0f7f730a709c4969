#include "runtime/recipe/object_symbols.h"

#include <elf.h>

#include <cstring>

#include "runtime/base/status.h"

namespace trencadis::recipe {
namespace {

absl::Status Damaged(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("object code is damaged: ", what));
}

// Copies a T from `offset`, wherever it is aligned.
template <typename T>
absl::StatusOr<T> ReadAt(absl::string_view object, uint64_t offset) {
  if (offset > object.size() || object.size() - offset < sizeof(T)) {
    return Damaged("a header lies outside the object");
  }
  T value;
  std::memcpy(&value, object.data() + offset, sizeof(T));
  return value;
}

absl::StatusOr<absl::string_view> SectionBytes(absl::string_view object, const Elf64_Shdr& header) {
  if (header.sh_offset > object.size() || object.size() - header.sh_offset < header.sh_size) {
    return Damaged("a section lies outside the object");
  }
  return object.substr(header.sh_offset, header.sh_size);
}

absl::StatusOr<Elf64_Shdr> SectionHeader(absl::string_view object, const Elf64_Ehdr& elf,
                                         uint32_t index) {
  if (index >= elf.e_shnum) return Damaged("a section index is out of range");
  if (elf.e_shoff > object.size()) return Damaged("the section table lies outside the object");
  return ReadAt<Elf64_Shdr>(object, elf.e_shoff + uint64_t{index} * sizeof(Elf64_Shdr));
}

absl::Status CollectFunctions(absl::string_view object, const Elf64_Ehdr& elf,
                              const Elf64_Shdr& symbols, std::vector<std::string>& names) {
  TRENCADIS_ASSIGN_OR_RETURN(const absl::string_view table, SectionBytes(object, symbols));
  TRENCADIS_ASSIGN_OR_RETURN(const Elf64_Shdr strings_header,
                             SectionHeader(object, elf, symbols.sh_link));
  TRENCADIS_ASSIGN_OR_RETURN(const absl::string_view strings, SectionBytes(object, strings_header));
  for (uint64_t offset = 0; offset + sizeof(Elf64_Sym) <= table.size();
       offset += sizeof(Elf64_Sym)) {
    TRENCADIS_ASSIGN_OR_RETURN(const Elf64_Sym symbol, ReadAt<Elf64_Sym>(table, offset));
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || ELF64_ST_BIND(symbol.st_info) != STB_GLOBAL ||
        symbol.st_shndx == SHN_UNDEF) {
      continue;
    }
    const size_t end = strings.find('\0', symbol.st_name);
    if (end == absl::string_view::npos) return Damaged("a symbol's name lies outside its table");
    names.emplace_back(strings.substr(symbol.st_name, end - symbol.st_name));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> DefinedFunctions(absl::string_view object) {
  TRENCADIS_ASSIGN_OR_RETURN(const Elf64_Ehdr elf, ReadAt<Elf64_Ehdr>(object, 0));
  if (std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_ident[EI_CLASS] != ELFCLASS64 ||
      elf.e_ident[EI_DATA] != ELFDATA2LSB || elf.e_type != ET_REL ||
      elf.e_shentsize != sizeof(Elf64_Shdr)) {
    return Damaged("it is not a 64-bit little-endian relocatable ELF file");
  }
  std::vector<std::string> names;
  for (uint32_t i = 0; i < elf.e_shnum; ++i) {
    TRENCADIS_ASSIGN_OR_RETURN(const Elf64_Shdr header, SectionHeader(object, elf, i));
    if (header.sh_type == SHT_SYMTAB) {
      TRENCADIS_RETURN_IF_ERROR(CollectFunctions(object, elf, header, names));
    }
  }
  return names;
}

}  // namespace trencadis::recipe
