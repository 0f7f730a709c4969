#include "runtime/codegen/matmul.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>

namespace trencadis::codegen {
namespace {

// A float tensor of either dtype with its values as doubles.
class Tensor {
 public:
  Tensor(DType dtype, int64_t elements) : dtype_(dtype), bytes_(elements * ByteSize(dtype) + 64) {}
  static Tensor Random(DType dtype, int64_t elements, int seed) {
    Tensor tensor(dtype, elements);
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (int64_t i = 0; i < elements; ++i) tensor.Set(i, uniform(random));
    return tensor;
  }
  void* data() { return bytes_.data(); }
  double Get(int64_t i) const {
    if (dtype_ == DType::kF32) return reinterpret_cast<const float*>(bytes_.data())[i];
    return ToF32(reinterpret_cast<const BF16*>(bytes_.data())[i]);
  }
  void Set(int64_t i, float value) {
    if (dtype_ == DType::kF32) {
      reinterpret_cast<float*>(bytes_.data())[i] = value;
    } else {
      reinterpret_cast<BF16*>(bytes_.data())[i] = ToBF16(value);
    }
  }
  bool SameBytes(const Tensor& other) const { return bytes_ == other.bytes_; }

 private:
  DType dtype_;
  std::vector<char> bytes_;
};

struct Problem {
  explicit Problem(const MatMulSpec& spec)
      : lda(spec.lda           ? spec.lda
            : spec.transpose_a ? spec.m
                               : spec.k),
        ldb(spec.ldb           ? spec.ldb
            : spec.transpose_b ? spec.k
                               : spec.n),
        ldc(spec.ldc ? spec.ldc : spec.n),
        a(Tensor::Random(spec.a_dtype, spec.batch * (spec.transpose_a ? spec.k : spec.m) * lda, 1)),
        b(Tensor::Random(
            spec.b_dtype,
            (spec.batched_b ? spec.batch : 1) * (spec.transpose_b ? spec.n : spec.k) * ldb, 2)),
        c(Tensor::Random(spec.c_dtype, spec.batch * spec.m * ldc, 3)) {
    for (const PostOp& post_op : spec.post_ops) {
      if (!TakesOperand(post_op.kind)) continue;
      const bool scalar = post_op.kind == PostOpKind::kScaleBy;
      const int64_t elements = scalar                              ? 1
                               : post_op.kind == PostOpKind::kBias ? spec.n
                                                                   : spec.batch * spec.m * spec.n;
      operands.push_back(Tensor::Random(scalar ? DType::kF32 : spec.c_dtype, elements,
                                        4 + static_cast<int>(operands.size())));
    }
  }

  int64_t lda, ldb, ldc;
  Tensor a, b, c;
  std::vector<Tensor> operands;
};

double PostOps(const MatMulSpec& spec, const Problem& p, int64_t i, int64_t m, int64_t n,
               double x) {
  int operand = 0;
  const int64_t full = (i * spec.m + m) * spec.n + n;
  for (const PostOp& post_op : spec.post_ops) {
    switch (post_op.kind) {
      case PostOpKind::kScale:
        x *= post_op.value;
        break;
      case PostOpKind::kScaleBy:
        x *= p.operands[operand++].Get(0);
        break;
      case PostOpKind::kBias:
        x += p.operands[operand++].Get(n);
        break;
      case PostOpKind::kAdd:
        x += p.operands[operand++].Get(full);
        break;
      case PostOpKind::kMul:
        x *= p.operands[operand++].Get(full);
        break;
      case PostOpKind::kRelu:
        x = std::max(x, 0.0);
        break;
      case PostOpKind::kGeluErf:
        x = 0.5 * x * (1 + std::erf(x / std::sqrt(2)));
        break;
      case PostOpKind::kGeluTanh:
        x = 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
        break;
      case PostOpKind::kSilu:
        x = x / (1 + std::exp(-x));
        break;
      case PostOpKind::kAccumulate:
        x += p.c.Get((i * spec.m + m) * p.ldc + n);
        break;
    }
  }
  return x;
}

// What `spec` means, in double.
std::vector<double> Reference(const MatMulSpec& spec, const Problem& p) {
  std::vector<double> result;
  for (int64_t i = 0; i < spec.batch; ++i) {
    const int64_t a0 = i * (spec.transpose_a ? spec.k : spec.m) * p.lda;
    const int64_t b0 = spec.batched_b ? i * (spec.transpose_b ? spec.n : spec.k) * p.ldb : 0;
    for (int64_t m = 0; m < spec.m; ++m) {
      for (int64_t n = 0; n < spec.n; ++n) {
        double sum = 0;
        for (int64_t k = 0; k < spec.k; ++k) {
          sum += p.a.Get(a0 + (spec.transpose_a ? k * p.lda + m : m * p.lda + k)) *
                 p.b.Get(b0 + (spec.transpose_b ? n * p.ldb + k : k * p.ldb + n));
        }
        result.push_back(PostOps(spec, p, i, m, n, sum));
      }
    }
  }
  return result;
}

// Runs `spec` on `p`; the result is in p.c.
void Execute(const MatMulSpec& spec, const Target& target, Problem& p) {
  auto matmul = MatMul::Create(spec, target);
  ASSERT_TRUE(matmul.ok()) << matmul.status();
  std::vector<const void*> operands;
  for (Tensor& operand : p.operands) operands.push_back(operand.data());
  Tensor scratchpad(DType::kF32, (*matmul)->scratchpad_bytes() / 4 + 64);
  auto* aligned =
      reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(scratchpad.data()) + 63) / 64 * 64);
  Tensor packed(DType::kF32, (*matmul)->packed_b_bytes() / 4 + 64);
  void* b = p.b.data();
  if (spec.packed_b) {
    b = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(packed.data()) + 63) / 64 * 64);
    ASSERT_TRUE((*matmul)->PackB(p.b.data(), b).ok());
  }
  const absl::Status status = (*matmul)->Execute(p.a.data(), b, p.c.data(), operands, aligned);
  ASSERT_TRUE(status.ok()) << status;
}

void ExpectRight(const MatMulSpec& spec, const Target& target) {
  SCOPED_TRACE(spec.ToString() + " on " + target.ToString());
  Problem p(spec);
  const std::vector<double> want = Reference(spec, p);
  Execute(spec, target, p);
  // f32: K roundings of terms of size below 1; bf16: half of the last of 8 bits, once.
  const double tolerance = 2e-6 * std::sqrt(spec.k + 1.0) + 2e-6;
  const double relative = spec.c_dtype == DType::kBF16 ? 1.0 / 256 : 2e-6;
  int bad = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double got = p.c.Get(i / spec.n * p.ldc + i % spec.n);
    if (std::abs(got - want[i]) <= tolerance + relative * std::abs(want[i])) continue;
    if (++bad < 4) ADD_FAILURE() << "element " << i << ": got " << got << ", want " << want[i];
  }
  EXPECT_EQ(bad, 0);
}

MatMulSpec Spec(int64_t m, int64_t n, int64_t k, DType in, DType out) {
  MatMulSpec spec;
  spec.m = m;
  spec.n = n;
  spec.k = k;
  spec.a_dtype = spec.b_dtype = in;
  spec.c_dtype = out;
  return spec;
}

constexpr std::pair<DType, DType> kTypes[] = {
    {DType::kF32, DType::kF32}, {DType::kBF16, DType::kBF16}, {DType::kBF16, DType::kF32}};

// The host, and targets that take the other code paths.
std::vector<Target> Targets() {
  std::vector<Target> targets = {Target::Host()};
  for (const char* cpu : {"x86-64-v2", "x86-64-v3"}) targets.push_back(*Target::HostWithCpu(cpu));
  return targets;
}

TEST(MatMul, ShapesAndTransposes) {
  constexpr int64_t kShapes[][3] = {{1, 1, 1},   {3, 5, 7},    {1, 130, 67}, {8, 64, 33},
                                    {16, 17, 9}, {17, 33, 65}, {50, 8, 96},  {33, 96, 8}};
  for (const Target& target : Targets()) {
    for (const auto& [in, out] : kTypes) {
      for (const auto& shape : kShapes) {
        for (int transposes = 0; transposes < 4; ++transposes) {
          MatMulSpec spec = Spec(shape[0], shape[1], shape[2], in, out);
          spec.transpose_a = transposes & 1;
          spec.transpose_b = transposes & 2;
          ExpectRight(spec, target);
        }
      }
    }
  }
}

TEST(MatMul, Batches) {
  for (const Target& target : Targets()) {
    for (const auto& [in, out] : kTypes) {
      for (int flags = 0; flags < 8; ++flags) {
        MatMulSpec spec = Spec(5, 19, 23, in, out);
        spec.batch = 3;
        spec.transpose_a = flags & 1;
        spec.transpose_b = flags & 2;
        spec.batched_b = flags & 4;
        spec.post_ops = {{PostOpKind::kBias}, {PostOpKind::kSilu}, {PostOpKind::kAdd}};
        ExpectRight(spec, target);
      }
    }
  }
}

TEST(MatMul, RowStrides) {
  for (const Target& target : Targets()) {
    for (const auto& [in, out] : kTypes) {
      for (int64_t m : {4, 40}) {
        for (int transposes = 0; transposes < 4; ++transposes) {
          MatMulSpec spec = Spec(m, 21, 34, in, out);
          spec.transpose_a = transposes & 1;
          spec.transpose_b = transposes & 2;
          spec.lda = 51;
          spec.ldb = 37;
          spec.ldc = 23;
          ExpectRight(spec, target);
        }
      }
    }
  }
}

TEST(MatMul, StridedResultKeepsItsGaps) {
  for (const auto& [in, out] : kTypes) {
    MatMulSpec spec = Spec(20, 5, 8, in, out);
    spec.ldc = 9;
    Problem p(spec);
    const Tensor before = p.c;
    Execute(spec, *Target::HostWithCpu("x86-64-v3"), p);
    for (int64_t row = 0; row < 19; ++row) {
      for (int64_t gap = 5; gap < 9; ++gap)
        EXPECT_EQ(p.c.Get(row * 9 + gap), before.Get(row * 9 + gap));
    }
  }
}

TEST(MatMul, EveryPostOp) {
  for (const Target& target : Targets()) {
    for (const auto& [in, out] : kTypes) {
      for (int64_t m : {2, 31}) {
        for (int kind = 0; kind <= static_cast<int>(PostOpKind::kAccumulate); ++kind) {
          MatMulSpec spec = Spec(m, 40, 24, in, out);
          spec.transpose_b = true;
          spec.post_ops = {{static_cast<PostOpKind>(kind), 0.37}};
          ExpectRight(spec, target);
        }
        MatMulSpec spec = Spec(m, 40, 24, in, out);
        spec.transpose_b = true;
        spec.post_ops = {{PostOpKind::kAccumulate}, {PostOpKind::kScale, -2.0},
                         {PostOpKind::kScaleBy},    {PostOpKind::kBias},
                         {PostOpKind::kGeluTanh},   {PostOpKind::kMul},
                         {PostOpKind::kAdd}};
        ExpectRight(spec, target);
      }
    }
  }
}

TEST(MatMul, PackedBGivesTheSameBits) {
  for (const Target& target : Targets()) {
    for (const auto& [in, out] : kTypes) {
      for (const bool transpose_b : {false, true}) {
        MatMulSpec spec = Spec(64, 96, 130, in, out);
        spec.transpose_b = transpose_b;
        Problem plain(spec);
        Execute(spec, target, plain);
        spec.packed_b = true;
        ExpectRight(spec, target);
        Problem packed(spec);
        Execute(spec, target, packed);
        EXPECT_TRUE(plain.c.SameBytes(packed.c)) << spec.ToString();
      }
    }
  }
}

TEST(MatMul, ThreadsGiveTheSameBits) {
  for (const auto& [in, out] : kTypes) {
    for (int64_t m : {1, 7, 200}) {
      for (int transposes = 0; transposes < 4; ++transposes) {
        MatMulSpec spec = Spec(m, 300, 515, in, out);
        spec.transpose_a = transposes & 1;
        spec.transpose_b = transposes & 2;
        Target target = Target::Host();
        Problem one(spec);
        Problem two(spec);
        target.threads = 1;
        omp_set_num_threads(1);
        Execute(spec, target, one);
        target.threads = 2;
        omp_set_num_threads(2);
        Execute(spec, target, two);
        EXPECT_TRUE(one.c.SameBytes(two.c)) << spec.ToString();
      }
    }
  }
}

// Where the library would share out a long sum between threads.
TEST(MatMul, LongSums) {
  for (const Target& target : Targets()) {
    for (const auto& [in, out] : kTypes) {
      MatMulSpec spec = Spec(24, 18, 2500, in, out);
      spec.transpose_a = true;
      ExpectRight(spec, target);
      spec.post_ops = {{PostOpKind::kAccumulate}};
      ExpectRight(spec, target);
      spec.ldc = 20;
      ExpectRight(spec, target);
      spec.ldc = 0;
      spec.packed_b = true;
      spec.post_ops = {{PostOpKind::kScale, 0.3}, {PostOpKind::kAdd}};
      ExpectRight(spec, target);
      spec.packed_b = false;
      spec.transpose_b = true;
      spec.batch = 2;
      spec.batched_b = true;
      ExpectRight(spec, target);
    }
  }
}

TEST(MatMul, ThreadsGiveTheSameBitsOfLongSums) {
  for (const auto& [in, out] : kTypes) {
    for (const auto& [m, n] : {std::pair<int64_t, int64_t>{576, 8}, {8, 8}, {64, 64}}) {
      MatMulSpec spec = Spec(m, n, 4096, in, out);
      spec.transpose_a = true;
      Target target = Target::Host();
      Problem one(spec);
      target.threads = 1;
      omp_set_num_threads(1);
      Execute(spec, target, one);
      for (int threads : {2, 4}) {
        Problem many(spec);
        target.threads = threads;
        omp_set_num_threads(threads);
        Execute(spec, target, many);
        EXPECT_TRUE(one.c.SameBytes(many.c)) << spec.ToString() << " threads " << threads;
      }
    }
  }
}

// Decoding one sequence or many gives each the same bits.
TEST(MatMul, FewRowsDoNotSeeEachOther) {
  for (const auto& [in, out] : kTypes) {
    MatMulSpec spec = Spec(13, 70, 99, in, out);
    spec.transpose_b = true;
    Problem all(spec);
    Execute(spec, Target::Host(), all);
    spec.m = 1;
    for (int64_t row = 0; row < 13; ++row) {
      Problem one(spec);
      for (int64_t k = 0; k < 99; ++k) one.a.Set(k, all.a.Get(row * 99 + k));
      Execute(spec, Target::Host(), one);
      for (int64_t n = 0; n < 70; ++n) EXPECT_EQ(one.c.Get(n), all.c.Get(row * 70 + n));
    }
  }
}

TEST(MatMul, EmptyDimensions) {
  for (const auto& [in, out] : kTypes) {
    for (int64_t batch : {1, 2}) {
      for (const auto& shape : {std::array<int64_t, 3>{0, 4, 5}, {4, 0, 5}, {40, 4, 0}}) {
        MatMulSpec spec = Spec(shape[0], shape[1], shape[2], in, out);
        spec.batch = batch;
        spec.batched_b = true;
        spec.post_ops = {{PostOpKind::kAdd}};
        ExpectRight(spec, Target::Host());
      }
    }
  }
}

TEST(MatMul, SharedByThreads) {
  MatMulSpec spec = Spec(64, 256, 256, DType::kF32, DType::kF32);
  Problem want(spec);
  Execute(spec, Target::Host(), want);
  std::vector<Problem> problems(4, Problem(spec));
  std::vector<std::thread> threads;
  for (Problem& problem : problems) {
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 20; ++repeat) Execute(spec, Target::Host(), problem);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Problem& problem : problems) EXPECT_TRUE(problem.c.SameBytes(want.c));
}

TEST(MatMul, RefusesWhatItCannotDo) {
  const auto message = [](const MatMulSpec& spec) {
    return std::string(MatMul::Create(spec, Target::Host()).status().message());
  };
  MatMulSpec spec = Spec(2, 3, 4, DType::kF32, DType::kBF16);
  EXPECT_THAT(message(spec), testing::HasSubstr("convert"));
  spec = Spec(2, 3, 4, DType::kI32, DType::kI32);
  EXPECT_THAT(message(spec), testing::HasSubstr("i32"));
  spec = Spec(2, 3, 4, DType::kF32, DType::kF32);
  spec.lda = 2;
  EXPECT_THAT(message(spec), testing::HasSubstr("at least 4"));
  spec.lda = 0;
  spec.post_ops = {{PostOpKind::kRelu}, {PostOpKind::kAccumulate}};
  EXPECT_THAT(message(spec), testing::HasSubstr("number 1"));
  spec.post_ops = {};
  auto plain = MatMul::Create(spec, Target::Host());
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ((*plain)->PackB(nullptr, nullptr).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(MatMul, PostOpNamesParse) {
  for (int kind = 0; kind <= static_cast<int>(PostOpKind::kAccumulate); ++kind) {
    const auto post_op = static_cast<PostOpKind>(kind);
    auto parsed = ParsePostOp(PostOpName(post_op));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, post_op);
  }
  EXPECT_FALSE(ParsePostOp("softmax").ok());
}

}  // namespace
}  // namespace trencadis::codegen
