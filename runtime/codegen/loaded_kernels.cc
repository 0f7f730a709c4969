#include "runtime/codegen/loaded_kernels.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/codegen/elf_object.h"

namespace trencadis::codegen {
namespace {

// jmp *0(%rip), followed by the address: reaches a library that lies beyond 2 GiB.
constexpr unsigned char kStubCode[] = {0xff, 0x25, 0, 0, 0, 0};
constexpr uint64_t kStubBytes = 16;
constexpr uint64_t kStubAddressOffset = sizeof(kStubCode);

uint64_t RoundUp(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// The address of a function of libm, libmvec or (memset and its like) libc.
absl::StatusOr<void*> FindLibraryFunction(const std::string& name) {
  static void* const libmvec = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
  static void* const libm = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  for (void* library : {libmvec, libm}) {
    void* address = library == nullptr ? nullptr : dlsym(library, name.c_str());
    if (address != nullptr) return address;
  }
  return absl::NotFoundError(absl::StrCat("kernel calls '", name,
                                          "', which libm and libmvec here do not have; was it "
                                          "compiled for another target?"));
}

// Places the sections of all objects: code first, then stubs, then (on pages of their own, which
// are never executable) constants.
class Linker {
 public:
  absl::Status Add(absl::string_view bytes);
  absl::Status Link();

  // Unmaps unless released.
  ~Linker() {
    if (base_ != nullptr) munmap(base_, total_bytes_);
  }
  std::pair<void*, int64_t> Release() {
    return {std::exchange(base_, nullptr), static_cast<int64_t>(total_bytes_)};
  }
  absl::flat_hash_map<std::string, KernelFn>& functions() { return functions_; }

 private:
  struct Placed {
    ElfObject object;
    std::vector<uint64_t> offsets;  // of each section in the mapping
  };

  void Layout();
  absl::StatusOr<uint64_t> StubFor(const std::string& name);
  absl::StatusOr<uint64_t> SymbolOffset(const Placed& placed, const ElfSymbol& symbol);
  absl::Status Relocate(const Placed& placed, int section);
  absl::Status ExportFunctions(const Placed& placed);

  std::vector<Placed> objects_;
  absl::flat_hash_map<std::string, int> stubs_;  // function -> index
  uint64_t stubs_offset_ = 0;
  uint64_t constants_offset_ = 0;
  uint64_t total_bytes_ = 0;
  char* base_ = nullptr;
  absl::flat_hash_map<std::string, KernelFn> functions_;
};

absl::Status Linker::Add(absl::string_view bytes) {
  TRENCADIS_ASSIGN_OR_RETURN(ElfObject object, ElfObject::Parse(bytes));
  for (const ElfSymbol& symbol : object.symbols) {
    if (symbol.section == 0 && !symbol.name.empty()) {
      stubs_.emplace(std::string(symbol.name), static_cast<int>(stubs_.size()));
    }
  }
  objects_.push_back({std::move(object), {}});
  return absl::OkStatus();
}

void Linker::Layout() {
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t offset = 0;
  for (const bool executable : {true, false}) {
    for (Placed& placed : objects_) {
      placed.offsets.resize(placed.object.sections.size());
      for (size_t i = 0; i < placed.object.sections.size(); ++i) {
        const ElfSection& section = placed.object.sections[i];
        if (!section.allocated || section.executable != executable) continue;
        offset = RoundUp(offset, section.alignment);
        placed.offsets[i] = offset;
        offset += section.size;
      }
    }
    if (executable) {
      stubs_offset_ = RoundUp(offset, kStubBytes);
      offset = RoundUp(stubs_offset_ + stubs_.size() * kStubBytes, page);
      constants_offset_ = offset;
    }
  }
  total_bytes_ = RoundUp(std::max<uint64_t>(offset, 1), page);
}

absl::StatusOr<uint64_t> Linker::StubFor(const std::string& name) {
  TRENCADIS_ASSIGN_OR_RETURN(void* const address, FindLibraryFunction(name));
  const uint64_t offset = stubs_offset_ + stubs_.at(name) * kStubBytes;
  std::memcpy(base_ + offset, kStubCode, sizeof(kStubCode));
  std::memcpy(base_ + offset + kStubAddressOffset, &address, sizeof(address));
  return offset;
}

absl::StatusOr<uint64_t> Linker::SymbolOffset(const Placed& placed, const ElfSymbol& symbol) {
  if (symbol.section == 0) return StubFor(std::string(symbol.name));
  if (!placed.object.sections[symbol.section].allocated) {
    return absl::DataLossError("kernel object is damaged: code refers to an unloaded section");
  }
  return placed.offsets[symbol.section] + symbol.value;
}

absl::Status Linker::Relocate(const Placed& placed, int section) {
  for (const Elf64_Rela& relocation : placed.object.sections[section].relocations) {
    const ElfSymbol& symbol = placed.object.symbols[ELF64_R_SYM(relocation.r_info)];
    TRENCADIS_ASSIGN_OR_RETURN(const uint64_t target, SymbolOffset(placed, symbol));
    const uint64_t place = placed.offsets[section] + relocation.r_offset;
    const uint64_t type = ELF64_R_TYPE(relocation.r_info);
    const uint64_t width = type == R_X86_64_64 ? 8 : 4;
    if (relocation.r_offset + width > placed.object.sections[section].size) {
      return absl::DataLossError("kernel object is damaged: a relocation overruns its section");
    }
    if (type == R_X86_64_64) {
      const uint64_t value = reinterpret_cast<uint64_t>(base_) + target + relocation.r_addend;
      std::memcpy(base_ + place, &value, sizeof(value));
    } else if (type == R_X86_64_PC32 || type == R_X86_64_PLT32) {
      const auto value = static_cast<int32_t>(target + relocation.r_addend - place);
      std::memcpy(base_ + place, &value, sizeof(value));
    } else {
      return absl::DataLossError(absl::StrCat("kernel object has relocation type ", type,
                                              ", which the code generator never emits"));
    }
  }
  return absl::OkStatus();
}

absl::Status Linker::ExportFunctions(const Placed& placed) {
  for (const ElfSymbol& symbol : placed.object.symbols) {
    if (!symbol.is_global_function) continue;
    const auto function =
        reinterpret_cast<KernelFn>(base_ + placed.offsets[symbol.section] + symbol.value);
    if (!functions_.emplace(symbol.name, function).second) {
      return absl::AlreadyExistsError(
          absl::StrCat("two kernels loaded together are both named '", symbol.name, "'"));
    }
  }
  return absl::OkStatus();
}

absl::Status Linker::Link() {
  Layout();
  void* mapping =
      mmap(nullptr, total_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot map ", total_bytes_, " bytes for kernels"));
  }
  base_ = static_cast<char*>(mapping);
  for (const Placed& placed : objects_) {
    for (size_t i = 0; i < placed.object.sections.size(); ++i) {
      const ElfSection& section = placed.object.sections[i];
      if (!section.bytes.empty()) {
        std::memcpy(base_ + placed.offsets[i], section.bytes.data(), section.bytes.size());
      }
      TRENCADIS_RETURN_IF_ERROR(Relocate(placed, static_cast<int>(i)));
    }
    TRENCADIS_RETURN_IF_ERROR(ExportFunctions(placed));
  }
  if (mprotect(base_, constants_offset_, PROT_READ | PROT_EXEC) != 0 ||
      (total_bytes_ > constants_offset_ &&
       mprotect(base_ + constants_offset_, total_bytes_ - constants_offset_, PROT_READ) != 0)) {
    return absl::PermissionDeniedError(
        "the system refuses executable memory for compiled kernels (is it hardened?)");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<LoadedKernels>> LoadedKernels::Load(
    absl::Span<const absl::string_view> objects) {
  Linker linker;
  for (const absl::string_view object : objects) {
    if (!object.empty()) TRENCADIS_RETURN_IF_ERROR(linker.Add(object));
  }
  TRENCADIS_RETURN_IF_ERROR(linker.Link());
  std::unique_ptr<LoadedKernels> kernels(new LoadedKernels());
  kernels->functions_ = std::move(linker.functions());
  std::tie(kernels->mapping_, kernels->mapped_bytes_) = linker.Release();
  return kernels;
}

LoadedKernels::~LoadedKernels() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_bytes_);
}

absl::StatusOr<KernelFn> LoadedKernels::Find(absl::string_view symbol) const {
  const auto found = functions_.find(symbol);
  if (found == functions_.end()) {
    return absl::NotFoundError(absl::StrCat("no kernel named '", symbol, "' is loaded"));
  }
  return found->second;
}

}  // namespace trencadis::codegen
