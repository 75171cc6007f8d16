// Micro kernels against sums in double, at every size up to their shape's, beside unmapped pages.
#include "luminal/backends/cpu/micro/micro_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "luminal/shape/scalar.h"
#include "tests/backends/cpu/micro_kernel_harness.h"
#include "tests/support/guarded_memory.h"

namespace luminal::backends::cpu {
namespace {

using ::testing::HasSubstr;
using tests::GuardedMemory;
using tests::GuardedSide;

std::string name(Multiply multiply) {
  switch (multiply) {
    case Multiply::F32:
      return "f32";
    case Multiply::Bf16Dot:
      return "bf16 dot";
    case Multiply::Bf16Tiles:
      return "bf16 tiles";
    case Multiply::I8Dot:
      return "i8 dot";
    case Multiply::I8Tiles:
      return "i8 tiles";
  }
  return "?";
}

// How the left operand lies in memory: rows of k, with a gap between them or without, or k of rows.
enum class Layout { Rows, RowsApart, Transposed };

struct Case {
  const Target& target;
  Multiply multiply;
  MicroShape shape;
  int64_t rows, panels, k;
  Layout layout = Layout::Rows;
  int64_t first_k = 0;  // summed by a call of its own; the rest is added to it
  DType narrow = DType::F32;

  int64_t right_bytes() const { return is_half(narrow) ? 2 : element_bytes(multiply); }

  int64_t lanes() const { return target.vector_bytes / 4; }
  std::string text() const {
    return target.name + " " + name(multiply) + " shape " + std::to_string(shape.rows) + "x" +
           std::to_string(shape.panels) + " rows " + std::to_string(rows) + " panels " +
           std::to_string(panels) + " k " + std::to_string(k) + " layout " +
           std::to_string(static_cast<int>(layout)) + " after " + std::to_string(first_k) +
           " panels of " + std::string(luminal::name(narrow));
  }
};

// Any i8, or a small number that bf16 holds exactly.
float draw(Multiply multiply, std::mt19937& random) {
  if (element_bytes(multiply) == 1)
    return static_cast<float>(static_cast<int>(random() % 256) - 128);
  return static_cast<float>(static_cast<int>(random() % 129) - 64) / 32;
}

void put(std::byte* at, Multiply multiply, float value) {
  if (multiply == Multiply::F32) {
    std::memcpy(at, &value, 4);
  } else if (element_bytes(multiply) == 2) {
    const auto half = static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16);
    std::memcpy(at, &half, 2);
  } else {
    *at = static_cast<std::byte>(static_cast<int8_t>(value));
  }
}

void put_half(std::byte* at, DType dtype, float value) {
  const uint16_t half = dtype == DType::F16 ? f16_bits(value) : bf16_bits(value);
  std::memcpy(at, &half, 2);
}

double sum_at(const float* at, Multiply multiply) {
  return element_bytes(multiply) == 1 ? std::bit_cast<int32_t>(*at) : double{*at};
}

// Runs a kernel on operands that end, or start, at a page that can't be touched. What it sums stays
// small enough for f32 to be exact in any order, so results are too.
class Run {
 public:
  Run(const CompiledMicroKernel& kernel, const Case& c, GuardedMemory& memory, GuardedSide side)
      : kernel_(kernel), case_(c) {
    std::mt19937 random(static_cast<uint32_t>(c.rows * 1000 + c.k));
    memory.clear();
    place_left(memory, side, random);
    place_right(memory, side, random);
    const auto tile_floats =
        static_cast<size_t>(((c.rows - 1) * c.shape.panels + c.panels) * c.lanes());
    tile_ = reinterpret_cast<float*>(
        memory.place("the tile", tile_floats * 4, 64, side, std::byte{0x55}));
    std::fill(tile_, tile_ + tile_floats, kUntouched);
    escape_ = memory.escape_of([&] { kernel_(calls()); });
  }

  void check() const {
    if (escape_) FAIL() << case_.text() << ": " << *escape_;
    const int64_t lanes = case_.lanes();
    for (int64_t r = 0; r < case_.rows; ++r) {
      for (int64_t j = 0; j < case_.shape.panels * lanes; ++j) {
        if (r == case_.rows - 1 && j >= case_.panels * lanes) break;
        const double got = sum_at(tile_ + r * case_.shape.panels * lanes + j, case_.multiply);
        double want = sum_at(&kUntouched, case_.multiply);
        if (j < case_.panels * lanes) {
          want = 0;
          for (int64_t k = 0; k < case_.k; ++k) {
            want += double{left_values_[static_cast<size_t>(r * case_.k + k)]} *
                    double{right_values_[static_cast<size_t>(k * case_.panels * lanes + j)]};
          }
        }
        ASSERT_EQ(got, want) << case_.text() << ": row " << r << ", column " << j;
      }
    }
  }

 private:
  static constexpr float kUntouched = 12345;

  // First for a single row, so that the others find what a smaller call leaves behind.
  std::vector<CompiledMicroKernel::Call> calls() const {
    CompiledMicroKernel::Call call{.left = left_,
                                   .row_bytes = row_bytes_,
                                   .k_bytes = k_bytes_,
                                   .right = right_,
                                   .panel_bytes = panel_bytes_,
                                   .rows = 1,
                                   .panels = case_.panels,
                                   .k_count = case_.k,
                                   .tile = tile_};
    std::vector<CompiledMicroKernel::Call> calls = {call};
    call.rows = case_.rows;
    if (case_.first_k > 0) {
      call.k_count = case_.first_k;
      calls.push_back(call);
      call.k_count = case_.k - case_.first_k;
      call.left = left_ + case_.first_k * k_bytes_;
      call.right = right_ + case_.first_k * case_.lanes() * case_.right_bytes();
      call.adds = 1;
    }
    calls.push_back(call);
    return calls;
  }

  void place_left(GuardedMemory& memory, GuardedSide side, std::mt19937& random) {
    const int64_t bytes = element_bytes(case_.multiply);
    k_bytes_ = case_.layout == Layout::Transposed ? case_.rows * bytes : bytes;
    row_bytes_ = case_.layout == Layout::Transposed ? bytes
                 : case_.layout == Layout::Rows     ? case_.k * bytes
                                                    : (case_.k + 7) * bytes;
    const int64_t size =
        case_.k == 0 ? 0 : (case_.rows - 1) * row_bytes_ + (case_.k - 1) * k_bytes_ + bytes;
    std::byte* base = memory.place("the left operand", static_cast<size_t>(size),
                                   static_cast<size_t>(bytes), side, std::byte{0x7f});
    left_ = base;
    for (int64_t r = 0; r < case_.rows; ++r) {
      for (int64_t k = 0; k < case_.k; ++k) {
        left_values_.push_back(draw(case_.multiply, random));
        put(base + r * row_bytes_ + k * k_bytes_, case_.multiply, left_values_.back());
      }
    }
  }

  void place_right(GuardedMemory& memory, GuardedSide side, std::mt19937& random) {
    const int64_t bytes = case_.right_bytes(), v = elements_per_lane(case_.multiply);
    const int64_t steps = (case_.k + v - 1) / v, lanes = case_.lanes();
    panel_bytes_ = steps * lanes * v * bytes;
    std::byte* base = memory.place("the panels", static_cast<size_t>(case_.panels * panel_bytes_),
                                   64, side, std::byte{0x7f});
    right_ = base;
    for (int64_t k = 0; k < steps * v; ++k) {
      for (int64_t j = 0; j < case_.panels * lanes; ++j) {
        const float value = k < case_.k ? draw(case_.multiply, random) : 0;
        if (k < case_.k) right_values_.push_back(value);
        const int64_t element = ((k / v) * lanes + j % lanes) * v + k % v;
        std::byte* at = base + (j / lanes) * panel_bytes_ + element * bytes;
        is_half(case_.narrow) ? put_half(at, case_.narrow, value) : put(at, case_.multiply, value);
      }
    }
  }

  const CompiledMicroKernel& kernel_;
  const Case& case_;
  std::vector<float> left_values_, right_values_;
  const std::byte* left_ = nullptr;
  const std::byte* right_ = nullptr;
  float* tile_ = nullptr;
  int64_t row_bytes_ = 0, k_bytes_ = 0, panel_bytes_ = 0;
  std::optional<std::string> escape_;
};

void check_all_sizes(const Target& target, Multiply multiply, MicroShape shape,
                     DType narrow = DType::F32) {
  const CompiledMicroKernel kernel(target, multiply, shape, narrow);
  GuardedMemory memory;
  for (int64_t rows = 1; rows <= shape.rows; ++rows) {
    for (int64_t panels = 1; panels <= shape.panels; ++panels) {
      for (int64_t k : {0, 1, 2, 3, 31, 32, 33, 64, 65, 100}) {
        for (Layout layout : {Layout::Rows, Layout::RowsApart, Layout::Transposed}) {
          if (layout == Layout::Transposed && multiply != Multiply::F32) continue;
          const Case c{target, multiply, shape, rows, panels, k, layout, 0, narrow};
          const GuardedSide side =
              layout == Layout::RowsApart ? GuardedSide::Start : GuardedSide::End;
          Run(kernel, c, memory, side).check();
          if (k > elements_per_lane(multiply) && layout == Layout::Rows) {
            Case cut = c;
            cut.first_k = k > 32 ? 32 : elements_per_lane(multiply);
            Run(kernel, cut, memory, side).check();
          }
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

// The shapes that are chosen for any number of rows.
std::vector<MicroShape> shapes(const Target& target, Multiply multiply) {
  std::vector<MicroShape> found;
  for (int64_t rows = 1; rows <= 40; ++rows) {
    const MicroShape shape = micro_shape(target, multiply, rows);
    if (std::ranges::find(found, shape) == found.end()) found.push_back(shape);
  }
  return found;
}

TEST(MicroKernel, F32OnEveryTarget) {
  for (const Target& target : Target::here()) {
    for (MicroShape shape : shapes(target, Multiply::F32)) {
      check_all_sizes(target, Multiply::F32, shape);
    }
  }
}

// As for few rows, which are all that read such panels.
TEST(MicroKernel, F32WidensPanelsOfHalves) {
  for (const Target& target : Target::here()) {
    for (DType half : {DType::BF16, DType::F16}) {
      for (int64_t rows : {1, 2, 3, 8}) {
        check_all_sizes(target, Multiply::F32, micro_shape(target, Multiply::F32, rows), half);
      }
    }
  }
}

TEST(MicroKernel, PairsOfBf16) {
  if (!Target::host().avx512_bf16) GTEST_SKIP() << "no AVX-512 BF16 here";
  for (MicroShape shape : shapes(Target::host(), Multiply::Bf16Dot)) {
    check_all_sizes(Target::host(), Multiply::Bf16Dot, shape);
  }
}

TEST(MicroKernel, TilesOfBf16) {
  if (!Target::host().amx_bf16) GTEST_SKIP() << "no AMX here";
  for (MicroShape shape : shapes(Target::host(), Multiply::Bf16Tiles)) {
    check_all_sizes(Target::host(), Multiply::Bf16Tiles, shape);
  }
}

TEST(MicroKernel, FoursOfI8) {
  if (!Target::host().avx512_vnni) GTEST_SKIP() << "no AVX-512 VNNI here";
  for (MicroShape shape : shapes(Target::host(), Multiply::I8Dot)) {
    check_all_sizes(Target::host(), Multiply::I8Dot, shape);
  }
}

TEST(MicroKernel, TilesOfI8) {
  if (!Target::host().amx_int8) GTEST_SKIP() << "no AMX here";
  for (MicroShape shape : shapes(Target::host(), Multiply::I8Tiles)) {
    check_all_sizes(Target::host(), Multiply::I8Tiles, shape);
  }
}

TEST(MicroKernel, TheBestIsWhatTheTargetHas) {
  EXPECT_EQ(best_multiply(Target::aarch64(), DType::F32), Multiply::F32);
  EXPECT_EQ(best_multiply(Target::aarch64(), DType::BF16), Multiply::F32);
  Target target;
  target.x86 = target.avx512 = true;
  EXPECT_EQ(best_multiply(target, DType::BF16), Multiply::F32);
  target.avx512_bf16 = true;
  EXPECT_EQ(best_multiply(target, DType::BF16), Multiply::Bf16Dot);
  target.amx_bf16 = true;
  EXPECT_EQ(best_multiply(target, DType::BF16), Multiply::Bf16Tiles);
  EXPECT_EQ(best_multiply(target, DType::BF16, 1), Multiply::Bf16Dot);
  EXPECT_EQ(best_multiply(target, DType::F32), Multiply::F32);
  EXPECT_EQ(best_integer_multiply(target), std::nullopt);
  target.avx512_vnni = true;
  EXPECT_EQ(best_integer_multiply(target), Multiply::I8Dot);
  target.amx_int8 = true;
  EXPECT_EQ(best_integer_multiply(target), Multiply::I8Tiles);
  EXPECT_EQ(best_integer_multiply(target, 1), Multiply::I8Dot);
}

TEST(MicroKernel, ShapesHaveNoMoreRowsThanAreThere) {
  for (const Target& target : Target::here()) {
    for (Multiply multiply : {Multiply::F32, Multiply::Bf16Dot, Multiply::Bf16Tiles,
                              Multiply::I8Dot, Multiply::I8Tiles}) {
      for (int64_t rows = 1; rows < 300; ++rows) {
        const MicroShape shape = micro_shape(target, multiply, rows);
        EXPECT_LE(shape.rows, rows <= 16 ? rows : 32);
        EXPECT_GE(shape.panels, 2);
      }
      const MicroShape none = micro_shape(target, multiply, 0);
      EXPECT_EQ(none, micro_shape(target, multiply, 1));
      EXPECT_EQ(micro_shape(target, multiply, INT64_MAX), micro_shape(target, multiply, 14 * 32));
    }
  }
}

TEST(MicroKernel, Aarch64MultipliesAndAddsAtOnce) {
  const Target target = Target::aarch64();
  const std::string assembly =
      micro_kernel_assembly(target, Multiply::F32, micro_shape(target, Multiply::F32, INT64_MAX));
  EXPECT_THAT(assembly, HasSubstr("fmla"));
}

}  // namespace
}  // namespace luminal::backends::cpu
