#include "runtime/compiler/optimise.h"

#include <utility>

#include "runtime/compiler/passes/algebra.h"
#include "runtime/compiler/passes/canonicalise.h"
#include "runtime/compiler/passes/constant_folding.h"
#include "runtime/compiler/passes/cse.h"
#include "runtime/compiler/passes/dce.h"
#include "runtime/compiler/passes/fusion.h"
#include "runtime/compiler/passes/library_rewrite.h"
#include "runtime/compiler/passes/rematerialise.h"

namespace trencadis::compiler {

PassPipeline OptimisationPipeline(std::string graph_name, std::vector<std::string> disabled) {
  PassPipeline pipeline(std::move(graph_name), std::move(disabled));
  pipeline.Add<Dce>();  // a trace holds much that nobody asked for
  pipeline.Add<Canonicalise>();
  pipeline.Add<ConstantFolding>();
  pipeline.Add<Algebra>();
  pipeline.Add<Cse>();
  pipeline.Add<Dce>();
  pipeline.Add<Rematerialise>();   // after CSE, which would undo it
  pipeline.Add<LibraryRewrite>();  // before fusion, which would take the epilogues
  pipeline.Add<Dce>();             // fusion counts users
  pipeline.Add<Fusion>();
  return pipeline;
}

}  // namespace trencadis::compiler
