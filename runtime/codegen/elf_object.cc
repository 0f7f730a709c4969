#include "runtime/codegen/elf_object.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace trencadis::codegen {
namespace {

constexpr uint64_t kMaxAlignment = 4096;
constexpr uint64_t kMaxSectionBytes = uint64_t{1} << 28;

absl::Status Damaged(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("kernel object is damaged: ", what));
}

// `count` records of type T at `offset`, copied because file offsets need not be aligned.
template <typename T>
absl::StatusOr<std::vector<T>> ReadTable(absl::string_view bytes, uint64_t offset, uint64_t count,
                                         absl::string_view what) {
  if (offset > bytes.size() || count > (bytes.size() - offset) / sizeof(T)) {
    return Damaged(absl::StrCat(what, " lies outside the file"));
  }
  std::vector<T> table(count);
  if (count > 0) std::memcpy(table.data(), bytes.data() + offset, count * sizeof(T));
  return table;
}

absl::StatusOr<absl::string_view> SectionBytes(absl::string_view bytes, const Elf64_Shdr& header) {
  if (header.sh_type == SHT_NOBITS) return absl::string_view();
  if (header.sh_offset > bytes.size() || header.sh_size > bytes.size() - header.sh_offset) {
    return Damaged("a section lies outside the file");
  }
  return bytes.substr(header.sh_offset, header.sh_size);
}

absl::StatusOr<absl::string_view> NameAt(absl::string_view names, uint64_t offset) {
  const size_t end = offset < names.size() ? names.find('\0', offset) : absl::string_view::npos;
  if (end == absl::string_view::npos) return Damaged("a name lies outside its string table");
  return names.substr(offset, end - offset);
}

absl::StatusOr<std::vector<Elf64_Shdr>> ReadSectionHeaders(absl::string_view bytes) {
  TRENCADIS_ASSIGN_OR_RETURN(const auto header, ReadTable<Elf64_Ehdr>(bytes, 0, 1, "its header"));
  const Elf64_Ehdr& elf = header[0];
  if (std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_ident[EI_CLASS] != ELFCLASS64 ||
      elf.e_type != ET_REL || elf.e_machine != EM_X86_64 || elf.e_shentsize != sizeof(Elf64_Shdr)) {
    return Damaged("not a relocatable x86-64 ELF file");
  }
  return ReadTable<Elf64_Shdr>(bytes, elf.e_shoff, elf.e_shnum, "the section table");
}

absl::StatusOr<ElfSection> ReadSection(absl::string_view bytes, const Elf64_Shdr& header) {
  ElfSection section;
  section.allocated = (header.sh_flags & SHF_ALLOC) != 0 && header.sh_size > 0;
  section.executable = (header.sh_flags & SHF_EXECINSTR) != 0;
  if (!section.allocated) return section;
  if ((header.sh_flags & (SHF_WRITE | SHF_TLS)) != 0) {
    return Damaged("it has writable or thread-local data, which kernels never have");
  }
  section.size = header.sh_size;
  section.alignment = header.sh_addralign == 0 ? 1 : header.sh_addralign;
  if (section.size > kMaxSectionBytes || section.alignment > kMaxAlignment ||
      (section.alignment & (section.alignment - 1)) != 0) {
    return Damaged("a section's size or alignment is impossible");
  }
  TRENCADIS_ASSIGN_OR_RETURN(section.bytes, SectionBytes(bytes, header));
  return section;
}

absl::Status ReadSymbols(absl::string_view bytes, const std::vector<Elf64_Shdr>& headers,
                         const Elf64_Shdr& table, ElfObject& object) {
  if (table.sh_link >= headers.size()) return Damaged("the symbol table has no string table");
  TRENCADIS_ASSIGN_OR_RETURN(const absl::string_view names,
                             SectionBytes(bytes, headers[table.sh_link]));
  TRENCADIS_ASSIGN_OR_RETURN(
      const auto symbols,
      ReadTable<Elf64_Sym>(bytes, table.sh_offset, table.sh_size / sizeof(Elf64_Sym),
                           "a symbol table"));
  object.symbols.clear();
  for (const Elf64_Sym& from : symbols) {
    ElfSymbol symbol;
    TRENCADIS_ASSIGN_OR_RETURN(symbol.name, NameAt(names, from.st_name));
    // Reserved indices (absolute values, file names) count as undefined: no kernel refers to them.
    if (from.st_shndx < SHN_LORESERVE) symbol.section = from.st_shndx;
    symbol.value = from.st_value;
    symbol.is_global_function = symbol.section != 0 && ELF64_ST_TYPE(from.st_info) == STT_FUNC &&
                                ELF64_ST_BIND(from.st_info) == STB_GLOBAL;
    if (static_cast<size_t>(symbol.section) >= object.sections.size()) {
      return Damaged("a symbol names a section that does not exist");
    }
    const ElfSection& section = object.sections[symbol.section];
    if (symbol.section != 0 && section.allocated && symbol.value > section.size) {
      return Damaged("a symbol lies outside its section");
    }
    if (symbol.is_global_function && !section.executable) {
      return Damaged("a function lies outside the code");
    }
    object.symbols.push_back(symbol);
  }
  return absl::OkStatus();
}

absl::Status ReadRelocations(absl::string_view bytes, const Elf64_Shdr& table, ElfObject& object) {
  if (table.sh_info >= object.sections.size()) return Damaged("relocations of no section");
  ElfSection& section = object.sections[table.sh_info];
  if (!section.allocated) return absl::OkStatus();
  TRENCADIS_ASSIGN_OR_RETURN(
      section.relocations,
      ReadTable<Elf64_Rela>(bytes, table.sh_offset, table.sh_size / sizeof(Elf64_Rela),
                            "a relocation table"));
  for (const Elf64_Rela& relocation : section.relocations) {
    if (ELF64_R_SYM(relocation.r_info) >= object.symbols.size()) {
      return Damaged("a relocation names a symbol that does not exist");
    }
    if (relocation.r_offset > section.size || section.bytes.empty()) {
      return Damaged("a relocation lies outside its section");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ElfObject> ElfObject::Parse(absl::string_view bytes) {
  TRENCADIS_ASSIGN_OR_RETURN(const auto headers, ReadSectionHeaders(bytes));
  ElfObject object;
  for (const Elf64_Shdr& header : headers) {
    TRENCADIS_ASSIGN_OR_RETURN(ElfSection section, ReadSection(bytes, header));
    object.sections.push_back(std::move(section));
  }
  for (const Elf64_Shdr& header : headers) {
    if (header.sh_type != SHT_SYMTAB) continue;
    TRENCADIS_RETURN_IF_ERROR(ReadSymbols(bytes, headers, header, object));
  }
  for (const Elf64_Shdr& header : headers) {
    if (header.sh_type != SHT_RELA) continue;
    TRENCADIS_RETURN_IF_ERROR(ReadRelocations(bytes, header, object));
  }
  return object;
}

}  // namespace trencadis::codegen
