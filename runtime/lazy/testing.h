// What tests of lazy programs share: a small device with a context, and values in and out.
#ifndef TRENCADIS_RUNTIME_LAZY_TESTING_H_
#define TRENCADIS_RUNTIME_LAZY_TESTING_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/lazy/context.h"
#include "runtime/lazy/recipe_provider.h"
#include "runtime/lazy/tensor.h"

namespace trencadis::lazy {

// Remembers what was asked for; equal requests get one executable. Not thread-safe.
class RecordingProvider : public RecipeProvider {
 public:
  struct Request {
    ir::Graph graph;
    compiler::CompileOptions options;
  };

  absl::StatusOr<std::shared_ptr<const Executable>> GetOrCompile(
      const RecipeRequest& request) override;

  // Every request, in order.
  const std::vector<Request>& requests() const { return requests_; }
  void ForgetRequests() { requests_.clear(); }
  // What the last request got.
  const Executable& last() const { return *last_; }
  // Requests that no earlier one equalled.
  size_t num_built() const { return built_.size(); }

 private:
  std::vector<Request> requests_;
  std::shared_ptr<const Executable> last_;
  std::vector<std::pair<Request, std::shared_ptr<const Executable>>> built_;
};

constexpr int64_t kTestMemoryBytes = int64_t{1} << 30;

// A device, a provider and a context that belong together.
struct TestMachine {
  explicit TestMachine(ContextOptions context_options = {}, DeviceOptions device_options = {},
                       int64_t memory_bytes = kTestMemoryBytes);

  Device device;
  RecordingProvider recipes;
  Context context;
};

// A persistent f32 tensor.
Tensor FromValues(Context& context, Shape shape, const std::vector<float>& values);
// `count` numbers in (-1, 1), equal for equal seeds.
std::vector<float> RandomValues(int64_t count, uint32_t seed);

// The elements of an f32 tensor on the host; a test failure and none if it cannot be computed.
std::vector<float> Values(const Tensor& tensor);

// The nodes of `graph` whose op is called `op`.
int64_t CountOps(const ir::Graph& graph, absl::string_view op);

}  // namespace trencadis::lazy

#endif  // TRENCADIS_RUNTIME_LAZY_TESTING_H_
