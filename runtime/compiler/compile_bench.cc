// Compiles the training step of a model of SmolLM2-135M's geometry and prints what came of it: time
// by pass, kernels, steps, the memory plan.
//
//   compile_bench [bf16] [dump] [FILE]
//
// bf16: the model computes in bf16. dump: print the plan and the recipe too. FILE: compile the
// graph whose text it holds (as HPU_DUMP_TO writes it) instead, no argument donated.
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "runtime/codegen/target.h"
#include "runtime/compiler/compiler.h"
#include "runtime/compiler/graph_report.h"
#include "runtime/compiler/optimise.h"
#include "runtime/compiler/training_graph.h"
#include "runtime/ir/text.h"
#include "runtime/ops/registry.h"
#include "runtime/recipe/dump.h"

namespace trencadis::compiler {
namespace {

constexpr TrainingGraphOptions kSmolLm135M = {.layers = 30,
                                              .batch = 4,
                                              .time = 512,
                                              .width = 576,
                                              .mlp_width = 1536,
                                              .heads = 9,
                                              .kv_heads = 3,
                                              .head_width = 64,
                                              .vocabulary = 49152};

double MiB(double bytes) { return bytes / (1 << 20); }

int Run(bool dump, const TrainingGraph& step) {
  std::printf("%d nodes, parameters %.1f MiB\n", step.graph.num_nodes(), MiB(step.parameter_bytes));
  ir::Graph graph = step.graph;
  PassPipeline pipeline = OptimisationPipeline("step", {});
  if (const absl::Status status = pipeline.Run(graph); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  for (const PassReport& report : pipeline.reports()) {
    std::printf("  %-18s %7.2f ms %6d nodes %s\n", report.name.c_str(), 1e3 * report.seconds,
                report.nodes_after, report.changed ? "" : "(unchanged)");
  }
  CompileOptions compile_options;
  compile_options.name = "step";
  compile_options.arguments = step.arguments;
  const auto recipe = Compile(step.graph, compile_options, codegen::Target::Host());
  if (!recipe.ok()) {
    std::fprintf(stderr, "%s\n", recipe.status().ToString().c_str());
    return 1;
  }
  std::printf("compiled in %.3f s: %d steps, %d kernels, %d donations, recipe %.1f KiB\n",
              recipe->compile_seconds(), recipe->steps_size(), recipe->objects_size(),
              recipe->donations_size(), recipe->ByteSizeLong() / 1024.0);
  std::printf("arena %.1f MiB, lower bound %.1f MiB, peak in step %u\n", MiB(recipe->arena_bytes()),
              MiB(recipe->plan().lower_bound_bytes()), recipe->plan().peak_step());
  if (dump) {
    std::fputs(PlanToText(*recipe).c_str(), stdout);
    std::fputs(recipe::DumpRecipe(*recipe).c_str(), stdout);
  }
  return 0;
}

}  // namespace
}  // namespace trencadis::compiler

int main(int argc, char** argv) {
  namespace compiler = trencadis::compiler;
  bool dump = false;
  std::string file;
  compiler::TrainingGraphOptions options = compiler::kSmolLm135M;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "dump") {
      dump = true;
    } else if (argument == "bf16") {
      options.compute = trencadis::DType::kBF16;
    } else {
      file = argument;
    }
  }
  if (file.empty()) return compiler::Run(dump, compiler::MakeTrainingGraph(options));
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  auto graph = trencadis::ir::ParseGraph(text.str(), trencadis::ops::FindOp);
  if (!graph.ok()) {
    std::fprintf(stderr, "%s: %s\n", file.c_str(), graph.status().ToString().c_str());
    return 2;
  }
  return compiler::Run(dump, {.graph = *std::move(graph)});
}
