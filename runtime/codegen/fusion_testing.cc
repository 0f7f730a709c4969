#include "runtime/codegen/fusion_testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/codegen/loaded_kernels.h"
#include "runtime/ir/text.h"
#include "runtime/ops/interpreter.h"
#include "runtime/ops/registry.h"

namespace trencadis::codegen::testing {
namespace {

constexpr unsigned char kGuard = 0xa5;
constexpr size_t kGuardBytes = 128;

// A literal's bytes between guards, aligned to its element only.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(const TensorType& type)
      : bytes_(type.byte_size() + 2 * kGuardBytes + 64, kGuard), size_(type.byte_size()) {
    const auto address = reinterpret_cast<uintptr_t>(bytes_.data()) + kGuardBytes;
    offset_ = kGuardBytes + (64 - address % 64) + ByteSize(type.dtype);
  }
  void* data() { return bytes_.data() + offset_; }
  bool GuardsHold() const {
    for (size_t i = 0; i < bytes_.size(); ++i) {
      const bool inside = i >= offset_ && i < offset_ + size_;
      if (!inside && bytes_[i] != kGuard) return false;
    }
    return true;
  }

 private:
  std::vector<unsigned char> bytes_;
  size_t size_;
  size_t offset_;
};

std::vector<GuardedBuffer> MakeBuffers(const ir::Graph& body, const std::vector<Literal>& inputs) {
  std::vector<GuardedBuffer> buffers;
  for (const Literal& input : inputs) {
    buffers.emplace_back(input.type());
    if (input.type().byte_size() > 0) {
      std::memcpy(buffers.back().data(), input.bytes().data(), input.bytes().size());
    }
  }
  for (ir::Value output : body.outputs()) buffers.emplace_back(body.type(output));
  return buffers;
}

void* Align64(std::vector<char>& bytes) {
  const auto address = reinterpret_cast<uintptr_t>(bytes.data());
  return bytes.data() + (64 - address % 64) % 64;
}

}  // namespace

ir::Graph ParseBody(absl::string_view text) {
  auto graph = ir::ParseGraph(text, ops::FindOp);
  if (!graph.ok()) std::fprintf(stderr, "%s\n", graph.status().ToString().c_str());
  TRENCADIS_CHECK(graph.ok());
  return *std::move(graph);
}

Literal RandomLiteral(const TensorType& type, int seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> floats(-4, 4);
  std::uniform_int_distribution<int> integers(type.dtype == DType::kU8 ? 0 : -100, 100);
  Literal literal(type);
  for (int64_t i = 0; i < literal.num_elements(); ++i) {
    const bool is_bool = type.dtype == DType::kBool;
    literal.SetDouble(i, IsFloat(type.dtype) ? floats(random)
                         : is_bool           ? (random() & 1)
                                             : integers(random));
  }
  return literal;
}

std::vector<Literal> RandomInputs(const ir::Graph& body, int seed) {
  std::vector<Literal> inputs;
  for (int i = 0; i < body.num_inputs(); ++i) {
    inputs.push_back(RandomLiteral(body.type(body.input(i)), seed + i));
  }
  return inputs;
}

std::vector<Literal> Reference(const ir::Graph& body, const std::vector<Literal>& inputs) {
  auto outputs = ops::Interpret(body, inputs);
  if (!outputs.ok()) std::fprintf(stderr, "%s\n", outputs.status().ToString().c_str());
  TRENCADIS_CHECK(outputs.ok());
  return *std::move(outputs);
}

absl::StatusOr<std::vector<Literal>> RunKernel(const ir::Graph& body, const KernelCode& kernel,
                                               const std::vector<Literal>& inputs,
                                               const RunOptions& options) {
  TRENCADIS_ASSIGN_OR_RETURN(const auto loaded, LoadedKernels::Load({kernel.object}));
  std::vector<GuardedBuffer> buffers = MakeBuffers(body, inputs);
  std::vector<void*> pointers;
  for (GuardedBuffer& buffer : buffers) pointers.push_back(buffer.data());
  for (const auto& [input, output] : options.aliases) {
    pointers[body.num_inputs() + output] = pointers[input];
  }
  std::vector<char> shared(kernel.shared_scratch_bytes + 64, static_cast<char>(kGuard));
  if (kernel.shared_scratch_bytes > 0) pointers.push_back(Align64(shared));
  for (const KernelStage& stage : kernel.stages) {
    TRENCADIS_ASSIGN_OR_RETURN(const KernelFn function, loaded->Find(stage.symbol));
    for (int piece = options.pieces; piece-- > 0;) {
      std::vector<char> scratch(kernel.scratch_bytes_per_thread + 64, static_cast<char>(kGuard));
      function(pointers.data(), Align64(scratch), stage.units * piece / options.pieces,
               stage.units * (piece + 1) / options.pieces);
    }
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i].GuardsHold()) {
      return absl::InternalError(absl::StrCat("kernel wrote outside buffer ", i));
    }
  }
  std::vector<Literal> outputs;
  for (size_t i = 0; i < body.outputs().size(); ++i) {
    outputs.emplace_back(body.type(body.outputs()[i]));
    if (outputs.back().bytes().empty()) continue;
    std::memcpy(outputs.back().bytes().data(), pointers[body.num_inputs() + i],
                outputs.back().bytes().size());
  }
  return outputs;
}

absl::StatusOr<std::vector<Literal>> RunBody(const ir::Graph& body, const Target& target,
                                             const std::vector<Literal>& inputs,
                                             const RunOptions& options) {
  TRENCADIS_ASSIGN_OR_RETURN(const KernelCode kernel, CompileFusion(body, target, "kernel"));
  return RunKernel(body, kernel, inputs, options);
}

std::vector<Literal> RunOpByOp(const ir::Graph& body, const Target& target,
                               const std::vector<Literal>& inputs) {
  std::vector<std::vector<Literal>> values(body.num_nodes());
  for (int32_t i = 0; i < body.num_nodes(); ++i) {
    const ir::Node& node = body.node(i);
    if (i < body.num_inputs()) {
      values[i] = {inputs[i]};
      continue;
    }
    ir::Graph single;
    std::vector<Literal> operands;
    std::vector<ir::Value> arguments;
    for (ir::Value operand : node.operands) {
      operands.push_back(values[operand.node][operand.output]);
      arguments.push_back(single.AddInput(operands.back().type()));
    }
    const auto added = single.AddNode(node.op, arguments, node.attributes);
    TRENCADIS_CHECK(added.ok());
    single.SetOutputs({{*added, 0}});
    auto results = RunBody(single, target, operands);
    if (!results.ok()) std::fprintf(stderr, "%s\n", results.status().ToString().c_str());
    TRENCADIS_CHECK(results.ok());
    values[i] = *std::move(results);
  }
  std::vector<Literal> outputs;
  for (ir::Value output : body.outputs()) outputs.push_back(values[output.node][output.output]);
  return outputs;
}

void CheckBody(absl::string_view text, double tolerance, int seed) {
  SCOPED_TRACE(text);
  const ir::Graph body = ParseBody(text);
  ASSERT_TRUE(CheckFusible(body).ok()) << CheckFusible(body);
  const std::vector<Literal> inputs = RandomInputs(body, seed);
  const std::vector<Literal> expected = Reference(body, inputs);
  const Target host = Target::Host();
  for (const Target& target :
       {host, Target::HostWithCpu("x86-64-v3").value(), Target::HostWithCpu("x86-64-v2").value()}) {
    if (target.Lanes() > host.Lanes()) continue;
    SCOPED_TRACE(target.ToString());
    const auto kernel = CompileFusion(body, target, "kernel");
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    const auto whole = RunKernel(body, *kernel, inputs);
    ASSERT_TRUE(whole.ok()) << whole.status();
    ExpectNear(*whole, expected, tolerance);
    for (int pieces : {2, 3, 7}) {
      const auto split = RunKernel(body, *kernel, inputs, {.pieces = pieces});
      ASSERT_TRUE(split.ok()) << split.status();
      EXPECT_TRUE(SameBits(*whole, *split)) << "the result shows a split into " << pieces;
    }
    EXPECT_TRUE(SameBits(*whole, RunOpByOp(body, target, inputs))) << "fused and unfused differ";
  }
}

bool SameBits(const std::vector<Literal>& a, const std::vector<Literal>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.type() == y.type() &&
           std::equal(x.bytes().begin(), x.bytes().end(), y.bytes().begin(), y.bytes().end());
  });
}

void ExpectNear(const std::vector<Literal>& got, const std::vector<Literal>& expected,
                double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t output = 0; output < got.size(); ++output) {
    ASSERT_EQ(got[output].type(), expected[output].type());
    const DType dtype = got[output].dtype();
    const double relative = dtype == DType::kBF16 ? tolerance + 0x1p-7 : tolerance;
    int reported = 0;
    for (int64_t i = 0; i < got[output].num_elements() && reported < 3; ++i) {
      const double a = got[output].AsDouble(i);
      const double b = expected[output].AsDouble(i);
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      if (IsFloat(dtype) && std::abs(a - b) <= relative * std::max(1.0, std::abs(b))) continue;
      ADD_FAILURE() << "output " << output << " element " << i << " is " << a << "; expected " << b;
      ++reported;
    }
  }
}

}  // namespace trencadis::codegen::testing
