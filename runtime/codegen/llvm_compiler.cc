#include "runtime/codegen/llvm_compiler.h"

#include <memory>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "runtime/base/status.h"

namespace trencadis::codegen {
namespace {

constexpr char kTriple[] = "x86_64-unknown-linux-gnu";

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeMachine(const Target& target) {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  std::string error;
  const llvm::Target* backend = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (backend == nullptr) return absl::InternalError(absl::StrCat("LLVM has no x86: ", error));
  std::string features;
  for (const std::string& feature : target.features) {
    absl::StrAppend(&features, features.empty() ? "+" : ",+", feature);
  }
  llvm::TargetOptions options;
  // A product and a sum round separately: fused and unfused programs agree.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(
      backend->createTargetMachine(kTriple, target.cpu, features, options, llvm::Reloc::PIC_,
                                   llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  if (machine == nullptr) {
    return absl::InternalError(absl::StrCat("LLVM cannot generate code for ", target.cpu));
  }
  return machine;
}

void SetFunctionAttributes(llvm::Module& module, const Target& target) {
  const std::string width = std::to_string(target.Lanes() * 32);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
    function.addFnAttr("target-cpu", target.cpu);
  }
}

// Loops are written vectorised and unrolled: what is left to do is to drop what is computed twice
// and to move address arithmetic out. LLVM's own -O2 gives the same speed for a third more compile
// time.
constexpr char kPasses[] =
    "function(early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),gvn,"
    "instcombine<no-verify-fixpoint>)";

void Optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  TRENCADIS_CHECK(!builder.parsePassPipeline(passes, kPasses));
  passes.run(module, modules);
}

}  // namespace

absl::StatusOr<std::string> CompileToObject(llvm::Module& module, const Target& target) {
  TRENCADIS_ASSIGN_OR_RETURN(const auto machine, MakeMachine(target));
  module.setTargetTriple(kTriple);
  module.setDataLayout(machine->createDataLayout());
  SetFunctionAttributes(module, target);
  std::string problem;
  llvm::raw_string_ostream problem_stream(problem);
  if (llvm::verifyModule(module, &problem_stream)) {
    return absl::InternalError(absl::StrCat("generated code is not valid: ", problem));
  }
  Optimize(module, *machine);

  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    return absl::InternalError("LLVM cannot write object files for this target");
  }
  passes.run(module);
  return std::string(object.data(), object.size());
}

}  // namespace trencadis::codegen
