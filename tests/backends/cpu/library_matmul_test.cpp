// Products of the library against a loop in double, in every layout, dtype and epilogue.
#include "luminal/backends/cpu/onednn/library_matmul.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>

#include "luminal/runtime/buffer.h"
#include "tests/backends/cpu/matmul_problem.h"

namespace luminal::backends::cpu {
namespace {

using runtime::Buffer;
using testing::HasSubstr;

void check_matmul(const LibraryMatmulShape& shape, int threads = 2) {
  SCOPED_TRACE(fmt::format("{} {}×{}×{} batch [{}]{}", name(shape.dtype), shape.m, shape.n, shape.k,
                           fmt::join(shape.batch, ", "), shape.pack_b ? " packed" : ""));
  auto matmul = make_library_matmul(shape, threads);
  ASSERT_TRUE(matmul) << matmul.why();
  MatmulProblem problem(shape);
  run(problem, **matmul);
  expect_right(problem);
}

class LibraryMatmulTest : public testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (!library_available()) GTEST_SKIP() << "this build is " << library_text();
    auto made = make_library_matmul(dense_shape(GetParam(), {}, 2, 2, 2), 1);
    if (!made) GTEST_SKIP() << name(GetParam()) << " on this processor: " << made.why();
  }
};

TEST_P(LibraryMatmulTest, OddSizes) {
  for (int64_t m : {1, 3, 17, 65}) {
    for (int64_t n : {1, 3, 17, 63, 65}) {
      for (int64_t k : {1, 3, 17, 63, 65}) {
        LibraryMatmulShape shape = dense_shape(GetParam(), {}, m, n, k);
        check_matmul(shape);
        shape.pack_b = true;
        check_matmul(shape);
      }
    }
  }
}

TEST_P(LibraryMatmulTest, Layouts) {
  using Layout = MatmulStrides (*)(const std::vector<int64_t>&, int64_t, int64_t);
  for (const std::vector<int64_t>& batch : {std::vector<int64_t>{}, {2, 3}}) {
    for (const auto& [m, n, k] : {std::tuple{17, 33, 65}, {1, 64, 48}, {5, 1, 7}}) {
      for (Layout a : {dense, transposed, gapped}) {
        for (Layout b : {dense, transposed, gapped}) {
          for (Layout c : {dense, gapped}) {
            LibraryMatmulShape shape = dense_shape(GetParam(), batch, m, n, k);
            shape.a = a(batch, m, k);
            shape.b = b(batch, k, n);
            shape.c = c(batch, m, n);
            check_matmul(shape);
            shape.pack_b = true;
            check_matmul(shape);
          }
        }
      }
    }
  }
}

TEST_P(LibraryMatmulTest, OneMatrixForAllOfABatch) {
  for (bool pack : {false, true}) {
    LibraryMatmulShape shape = dense_shape(GetParam(), {4}, 9, 34, 20);
    shape.pack_b = pack;
    shape.b.batch = {0};
    check_matmul(shape);
    shape = dense_shape(GetParam(), {4}, 9, 34, 20);
    shape.pack_b = pack;
    shape.a.batch = {0};
    check_matmul(shape);
  }
  // Heads in groups: two of them share keys.
  LibraryMatmulShape grouped = dense_shape(GetParam(), {3, 2}, 9, 34, 20);
  grouped.b = dense({3, 1}, 20, 34);
  grouped.b.batch[1] = 0;
  check_matmul(grouped);
}

TEST_P(LibraryMatmulTest, ResultsInTheOtherDtype) {
  LibraryMatmulShape shape = dense_shape(GetParam(), {}, 17, 65, 63);
  shape.result = DType::F32;
  check_matmul(shape);
  shape.bias = DType::F32;
  shape.post_ops = {{.kind = PostOpKind::GeluErf}};
  shape.pack_b = true;
  check_matmul(shape);
}

TEST_P(LibraryMatmulTest, Bias) {
  for (DType dtype : {GetParam(), DType::F32}) {
    for (int64_t m : {1, 17}) {
      LibraryMatmulShape shape = dense_shape(GetParam(), {}, m, 65, 63);
      shape.bias = dtype;
      check_matmul(shape);
      shape = dense_shape(GetParam(), {2}, m, 65, 63);
      shape.bias = dtype;
      shape.pack_b = true;
      check_matmul(shape);
    }
  }
}

TEST_P(LibraryMatmulTest, FunctionsOfTheSum) {
  for (PostOpKind kind :
       {PostOpKind::Relu, PostOpKind::GeluTanh, PostOpKind::GeluErf, PostOpKind::Swish}) {
    for (int64_t m : {1, 17}) {
      SCOPED_TRACE(static_cast<int>(kind));
      LibraryMatmulShape shape = dense_shape(GetParam(), {}, m, 65, 63);
      shape.post_ops = {{.kind = kind}};
      check_matmul(shape);
      shape.bias = GetParam();
      shape.pack_b = true;
      check_matmul(shape);
    }
  }
}

TEST_P(LibraryMatmulTest, TensorsAddedAndMultiplied) {
  for (PostOpKind kind : {PostOpKind::Add, PostOpKind::Multiply}) {
    for (DType dtype : {GetParam(), DType::F32}) {
      for (int64_t m : {1, 17}) {
        LibraryMatmulShape shape = dense_shape(GetParam(), {}, m, 65, 63);
        shape.pack_b = true;
        shape.post_ops = {{.kind = kind, .dtype = dtype, .strides = shape.c}};
        check_matmul(shape);
        shape.post_ops[0].strides = {.row = 0, .column = 1};  // one row for all
        check_matmul(shape);
        shape.post_ops[0].strides = {};  // one value
        check_matmul(shape);
        shape.c = gapped({}, m, 65);
        shape.post_ops[0].strides = shape.c;
        check_matmul(shape);
        shape = dense_shape(GetParam(), {3}, m, 65, 63);
        shape.post_ops = {{.kind = kind, .dtype = dtype, .strides = shape.c}};
        check_matmul(shape);
        shape.post_ops[0].strides = {.batch = {65}, .row = 0, .column = 1};
        check_matmul(shape);
      }
    }
  }
}

TEST_P(LibraryMatmulTest, TensorsThatAreLaidOutOtherwiseAreRightOrRefused) {
  const MatmulStrides layouts[] = {{.batch = {0}, .row = 1, .column = 0},
                                   {.batch = {17}, .row = 1, .column = 0},
                                   {.batch = {1}, .row = 0, .column = 0},
                                   {.batch = {0}, .row = 65, .column = 1},
                                   {.batch = {65}, .row = 195, .column = 1},
                                   transposed({3}, 17, 65),
                                   gapped({3}, 17, 65)};
  int made = 0;
  for (const MatmulStrides& strides : layouts) {
    LibraryMatmulShape shape = dense_shape(GetParam(), {3}, 17, 65, 63);
    shape.post_ops = {{.kind = PostOpKind::Add, .strides = strides}};
    if (!make_library_matmul(shape, 2)) continue;
    check_matmul(shape);
    ++made;
  }
  EXPECT_GT(made, 0);
}

TEST_P(LibraryMatmulTest, AnEpilogueOfSeveralSteps) {
  // The second half of SwiGLU with a residual: swish(a · b + bias) · gate + residual.
  LibraryMatmulShape shape = dense_shape(GetParam(), {}, 33, 130, 65);
  shape.pack_b = true;
  shape.bias = GetParam();
  shape.post_ops = {{.kind = PostOpKind::Swish},
                    {.kind = PostOpKind::Multiply, .dtype = GetParam(), .strides = shape.c},
                    {.kind = PostOpKind::Add, .dtype = DType::F32, .strides = shape.c}};
  check_matmul(shape);
}

TEST_P(LibraryMatmulTest, OnePackedFormServesSeveralNumbersOfRows) {
  LibraryMatmulShape shape = dense_shape(GetParam(), {}, 64, 97, 65);
  shape.pack_b = true;
  auto first = make_library_matmul(shape, 2);
  ASSERT_TRUE(first) << first.why();
  MatmulProblem whole(shape);
  const Buffer packed = Buffer::allocate((*first)->packed_bytes());
  (*first)->pack(whole.b.data(), packed.writable().data());
  for (int64_t m : {1, 3, 200}) {
    LibraryMatmulShape other = dense_shape(GetParam(), {}, m, 97, 65);
    other.pack_b = true;
    auto matmul = make_library_matmul(other, 2, first->get());
    ASSERT_TRUE(matmul) << matmul.why();
    EXPECT_EQ((*matmul)->packed_bytes(), packed.size());
    MatmulProblem problem(other);
    problem.b = whole.b;
    const Buffer scratch = Buffer::allocate(std::max<size_t>((*matmul)->scratch_bytes(), 1));
    (*matmul)->run({.a = problem.a.data(),
                    .b = packed.bytes().data(),
                    .c = problem.c.memory.writable().data(),
                    .scratch = scratch.writable().data()});
    expect_right(problem);
  }
}

TEST_P(LibraryMatmulTest, OneObjectRunsAgainOnOtherTensors) {
  LibraryMatmulShape shape = dense_shape(GetParam(), {}, 17, 65, 63);
  shape.pack_b = true;
  shape.bias = GetParam();
  auto matmul = make_library_matmul(shape, 2);
  ASSERT_TRUE(matmul) << matmul.why();
  for (unsigned seed : {1, 2, 3}) {
    MatmulProblem problem(shape, seed);
    run(problem, **matmul);
    expect_right(problem);
  }
}

TEST_P(LibraryMatmulTest, ThreadsAreTheCallersAgainAfterwards) {
  // Of OpenMP in this process, which the library brings.
  auto* most_threads = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  ASSERT_NE(most_threads, nullptr);
  const int before = most_threads();
  for (int threads : {1, 2, 3}) check_matmul(dense_shape(GetParam(), {}, 65, 64, 63), threads);
  EXPECT_EQ(most_threads(), before);
}

// OpenMP's threads would spin for milliseconds on cores that our pool needs.
TEST_P(LibraryMatmulTest, ItsThreadsSleepAfterwards) {
  const auto of_process = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
  };
  constexpr double kSleepMs = 40, kMostMs = 1;
  const LibraryMatmulShape shape = dense_shape(GetParam(), {}, 256, 256, 128);
  auto matmul = make_library_matmul(shape, 2);
  ASSERT_TRUE(matmul) << matmul.why();
  MatmulProblem problem(shape);
  double least = kSleepMs;
  for (int attempt = 0; attempt < 5; ++attempt) {
    run(problem, **matmul);
    const double before = of_process();
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(kSleepMs));
    least = std::min(least, of_process() - before);
  }
  EXPECT_LT(least, kMostMs);
}

INSTANTIATE_TEST_SUITE_P(DTypes, LibraryMatmulTest, testing::Values(DType::F32, DType::BF16),
                         [](const auto& test) { return std::string(name(test.param)); });

TEST(LibraryMatmulRefusals, SayWhy) {
  auto why = [](const LibraryMatmulShape& shape) {
    auto made = make_library_matmul(shape, 1);
    return made ? "it was made" : made.why();
  };
  const LibraryMatmulShape good = dense_shape(DType::F32, {}, 4, 4, 4);
  if (!library_available()) {
    EXPECT_THAT(why(good), HasSubstr("LUMINAL_ONEDNN"));
    EXPECT_EQ(library_text(), "without oneDNN");
    return;
  }
  EXPECT_THAT(library_text(), HasSubstr("oneDNN 3."));
  LibraryMatmulShape shape = good;
  shape.k = 0;
  EXPECT_THAT(why(shape), HasSubstr("empty"));
  shape = good;
  shape.dtype = DType::F64;
  EXPECT_THAT(why(shape), HasSubstr("dtype"));
  shape = good;
  shape.a.row = -4;
  EXPECT_THAT(why(shape), HasSubstr("negative"));
  shape = good;
  shape.b.column = 0;
  EXPECT_THAT(why(shape), HasSubstr("broadcast"));
  shape = good;
  shape.post_ops = {{.kind = PostOpKind::Add, .strides = transposed({}, 4, 4)}};
  EXPECT_THAT(why(shape), HasSubstr("plain loops"));
  shape = good;
  shape.a = {.row = 12, .column = 3};  // neither rows nor columns are contiguous
  EXPECT_THAT(why(shape), HasSubstr("plain loops"));
}

}  // namespace
}  // namespace luminal::backends::cpu
