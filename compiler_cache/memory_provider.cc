#include "compiler_cache/memory_provider.h"

#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/metrics.h"
#include "runtime/ir/fingerprint.h"
#include "runtime/lazy/build_executable.h"

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

std::shared_ptr<MemoryProvider::Entry> MemoryProvider::Find(
    const Fingerprint128& key, const lazy::RecipeRequest& request) const {
  const auto it = entries_.find(key);
  if (it == entries_.end()) return nullptr;
  for (const std::shared_ptr<Entry>& entry : it->second) {
    if (SameOptions(entry->options, request.options) && entry->target == request.target &&
        entry->graph == request.graph) {
      return entry;
    }
  }
  return nullptr;
}

absl::StatusOr<std::shared_ptr<const Executable>> MemoryProvider::GetOrCompile(
    const lazy::RecipeRequest& request) {
  MetricsRegistry& metrics = MetricsRegistry::Global();
  const Fingerprint128 key = KeyOf(request);
  std::unique_lock<std::mutex> lock(mutex_);
  if (const std::shared_ptr<Entry> entry = Find(key, request); entry != nullptr) {
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
  absl::StatusOr<std::shared_ptr<const Executable>> executable = lazy::BuildExecutable(request);
  const double seconds = MonotonicClock().NowSeconds() - start_s;
  metrics.RecordTime("graph_compilation", seconds);
  lock.lock();
  stats_.compile_seconds += seconds;
  entry->executable = executable;
  entry->ready = true;
  // Those who wait learn of a failure; whoever asks later tries again.
  if (!executable.ok()) std::erase(entries_[key], entry);
  compiled_.notify_all();
  return executable;
}

MemoryProvider::Stats MemoryProvider::stats() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return stats_;
}

}  // namespace trencadis::compiler_cache
