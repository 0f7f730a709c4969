#include "runtime/recipe/recipe_testing.h"

#include <elf.h>

#include <cstring>

#include "runtime/recipe/recipe.h"

namespace trencadis::recipe {
namespace {

template <typename T>
void Append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

KernelStep* AddKernel(RecipeProto& recipe, const std::string& symbol) {
  Step& step = *recipe.add_steps();
  step.set_label(symbol);
  KernelStage& stage = *step.mutable_kernel()->add_stages();
  stage.set_symbol(symbol);
  stage.set_units(8);
  stage.set_grain(1);
  return step.mutable_kernel();
}

void AddProduct(RecipeProto& recipe) {
  Step& step = *recipe.add_steps();
  step.set_label("product");
  MatMulStep& matmul = *step.mutable_matmul();
  matmul.set_batch(1);
  matmul.set_m(4);
  matmul.set_n(2);
  matmul.set_k(4);
  *step.add_operands() = Slice(BufferSlice::ARENA, 0, 0, 64);
  *step.add_operands() = Slice(BufferSlice::INPUT, 1, 0, 32);
  *step.add_results() = Slice(BufferSlice::OUTPUT, 0, 0, 32);
}

}  // namespace

std::string ObjectDefining(const std::vector<std::string>& functions) {
  std::string strings(1, '\0');
  std::string symbols(sizeof(Elf64_Sym), '\0');  // the first symbol is no symbol
  for (const std::string& function : functions) {
    Elf64_Sym symbol = {};
    symbol.st_name = static_cast<uint32_t>(strings.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = SHN_ABS;
    Append(symbols, symbol);
    strings.append(function.c_str(), function.size() + 1);
  }
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_REL;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shoff = sizeof(header) + symbols.size() + strings.size();
  Elf64_Shdr none = {};
  Elf64_Shdr symbol_table = {};
  symbol_table.sh_type = SHT_SYMTAB;
  symbol_table.sh_offset = sizeof(header);
  symbol_table.sh_size = symbols.size();
  symbol_table.sh_link = 2;
  Elf64_Shdr string_table = {};
  string_table.sh_type = SHT_STRTAB;
  string_table.sh_offset = sizeof(header) + symbols.size();
  string_table.sh_size = strings.size();
  std::string object;
  Append(object, header);
  object += symbols + strings;
  Append(object, none);
  Append(object, symbol_table);
  Append(object, string_table);
  return object;
}

BufferSlice Slice(BufferSlice::Space space, uint32_t index, uint64_t offset, uint64_t bytes) {
  BufferSlice slice;
  slice.set_space(space);
  slice.set_index(index);
  slice.set_offset(offset);
  slice.set_bytes(bytes);
  return slice;
}

RecipeProto SmallRecipe() {
  RecipeProto recipe;
  recipe.set_version(kRecipeVersion);
  recipe.set_target("a target");
  recipe.set_name("small");
  recipe.set_arena_bytes(128);
  recipe.set_arena_alignment(kArenaAlignment);
  const TensorType square{DType::kF32, {4, 4}};
  const TensorType tall{DType::kF32, {4, 2}};
  for (const TensorType& type : {square, tall, tall, tall}) *recipe.add_inputs() = ToProto(type);
  for (int i = 0; i < 3; ++i) *recipe.add_outputs() = ToProto(tall);
  recipe.add_objects(ObjectDefining({"exp", "update"}));

  AddKernel(recipe, "exp");
  *recipe.mutable_steps(0)->add_operands() = Slice(BufferSlice::INPUT, 0, 0, 64);
  *recipe.mutable_steps(0)->add_results() = Slice(BufferSlice::ARENA, 0, 0, 64);
  AddProduct(recipe);
  AddKernel(recipe, "update")->set_scratch_bytes_per_thread(64);
  Step& update = *recipe.mutable_steps(2);
  *update.add_operands() = Slice(BufferSlice::INPUT, 2, 0, 32);
  *update.add_results() = Slice(BufferSlice::OUTPUT, 1, 0, 32);
  *update.mutable_scratch() = Slice(BufferSlice::ARENA, 0, 64, 64);

  Donation& donation = *recipe.add_donations();
  donation.set_output(1);
  donation.set_input(2);
  Donation& passed = *recipe.add_passed_through();
  passed.set_output(2);
  passed.set_input(3);
  return recipe;
}

}  // namespace trencadis::recipe
