#include "compiler_cache/memory_provider.h"

#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/metrics.h"
#include "runtime/base/status.h"
#include "runtime/compiler/compiler.h"
#include "runtime/ir/fingerprint.h"

namespace trencadis::compiler_cache {
namespace {

bool SameOptions(const compiler::CompileOptions& a, const compiler::CompileOptions& b) {
  return a.arguments == b.arguments && a.disabled_passes == b.disabled_passes &&
         a.optimize == b.optimize;
}

}  // namespace

Fingerprint128 MemoryProvider::KeyOf(const lazy::RecipeRequest& request) {
  Fingerprinter key;
  key.Add(ir::FingerprintGraph(request.graph));
  key.Add(request.options.arguments.size());
  for (const compiler::ArgumentInfo& argument : request.options.arguments) {
    key.Add(argument.donated).Add(argument.frozen);
  }
  key.Add(request.options.disabled_passes.size());
  for (const std::string& pass : request.options.disabled_passes) key.Add(pass);
  return key.Add(request.options.optimize).Add(request.target.ToString()).Finish();
}

bool MemoryProvider::Matches(const Entry& entry, const lazy::RecipeRequest& request) {
  return SameOptions(entry.options, request.options) && entry.target == request.target &&
         entry.graph == request.graph;
}

absl::StatusOr<std::shared_ptr<const Executable>> MemoryProvider::Compile(
    const lazy::RecipeRequest& request) {
  TRENCADIS_ASSIGN_OR_RETURN(recipe::RecipeProto recipe,
                             compiler::Compile(request.graph, request.options, request.target));
  return Executable::Load(std::move(recipe), request.target);
}

absl::StatusOr<std::shared_ptr<const Executable>> MemoryProvider::GetOrCompile(
    const lazy::RecipeRequest& request) {
  MetricsRegistry& metrics = MetricsRegistry::Global();
  const Fingerprint128 key = KeyOf(request);
  std::unique_lock<std::mutex> lock(mutex_);
  for (const std::shared_ptr<Entry>& entry : entries_[key]) {
    if (!Matches(*entry, request)) continue;
    ++stats_.hits;
    metrics.Add("recipe_cache", "TotalHit");
    compiled_.wait(lock, [&] { return entry->ready; });
    return entry->executable;
  }
  ++stats_.misses;
  metrics.Add("recipe_cache", "TotalMiss");
  auto entry = std::make_shared<Entry>(Entry{request.graph, request.options, request.target});
  entries_[key].push_back(entry);
  lock.unlock();
  const double start_s = MonotonicClock().NowSeconds();
  absl::StatusOr<std::shared_ptr<const Executable>> executable = Compile(request);
  const double seconds = MonotonicClock().NowSeconds() - start_s;
  metrics.RecordTime("graph_compilation", seconds);
  lock.lock();
  stats_.compile_seconds += seconds;
  entry->executable = executable;
  entry->ready = true;
  compiled_.notify_all();
  return executable;
}

MemoryProvider::Stats MemoryProvider::stats() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return stats_;
}

}  // namespace trencadis::compiler_cache
