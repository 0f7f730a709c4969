// MemoryProvider: recipes kept in memory, compiled once per key however many threads ask.
//
// The key is everything that decides the result: the graph, what is promised about its arguments,
// the options and the target. On a hit the whole key is compared, not its fingerprint alone. A
// failure is returned to everyone who waited for it and is not kept.
// Thread-safe.
#ifndef TRENCADIS_COMPILER_CACHE_MEMORY_PROVIDER_H_
#define TRENCADIS_COMPILER_CACHE_MEMORY_PROVIDER_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "runtime/base/fingerprint.h"
#include "runtime/lazy/recipe_provider.h"

namespace trencadis::compiler_cache {

class MemoryProvider : public lazy::RecipeProvider {
 public:
  struct Stats {
    int64_t hits = 0;
    int64_t misses = 0;
    double compile_seconds = 0;
  };

  absl::StatusOr<std::shared_ptr<const Executable>> GetOrCompile(
      const lazy::RecipeRequest& request) override;

  Stats stats() const;

 private:
  // A recipe, or the compilation of one that others wait for.
  struct Entry {
    ir::Graph graph;
    compiler::CompileOptions options;
    codegen::Target target;
    bool ready = false;
    absl::StatusOr<std::shared_ptr<const Executable>> executable = absl::UnknownError("compiling");
  };

  static Fingerprint128 KeyOf(const lazy::RecipeRequest& request);
  // The entry whose whole key is `request`'s, or null. Needs mutex_.
  std::shared_ptr<Entry> Find(const Fingerprint128& key, const lazy::RecipeRequest& request) const;

  mutable std::mutex mutex_;
  std::condition_variable compiled_;
  absl::flat_hash_map<Fingerprint128, std::vector<std::shared_ptr<Entry>>> entries_;
  Stats stats_;
};

}  // namespace trencadis::compiler_cache

#endif  // TRENCADIS_COMPILER_CACHE_MEMORY_PROVIDER_H_
