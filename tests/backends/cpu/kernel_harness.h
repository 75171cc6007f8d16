// Runs a kernel compiled and by plain loops, on buffers that stand against unmapped pages.
#pragma once

#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include "luminal/backends/cpu/llvm/jit.h"
#include "luminal/kernel/ir/kernel.h"

namespace luminal::backends::cpu {

// Memory whose end (or start) touches a page that can't be accessed.
class GuardedBuffer {
 public:
  enum class Side { End, Start };
  GuardedBuffer(size_t size, Side side);
  ~GuardedBuffer();
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;
  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::byte* mapping_ = nullptr;
  size_t mapped_ = 0;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

using Bytes = std::vector<std::byte>;

// Evaluates the kernel one scalar at a time, as ops.def says. Outputs in `params` are written.
void run_reference(const kernel::Kernel& kernel, std::span<const int64_t> variables,
                   std::vector<Bytes>& params);

// Room for every param under these variables; inputs are random: usual numbers with special ones
// among them (NaN, infinities, ±0, subnormals, the ends of integers).
enum class Fill { Usual, Special };
std::vector<Bytes> random_params(const kernel::Kernel& kernel, std::span<const int64_t> variables,
                                 std::mt19937_64& random, Fill fill);

// How far a result may be from the reference: in units of the dtype's last place, and absolutely.
struct Tolerance {
  double ulps = 0;
  double absolute = 0;
};

// Runs the kernel compiled for each target, with 1 and 2 threads, against both kinds of page, and
// expects the reference's results within the tolerance and the same bits from all thread counts.
void expect_like_reference(const kernel::Kernel& kernel, std::vector<int64_t> variables,
                           Tolerance tolerance = {}, Fill fill = Fill::Usual, uint64_t seed = 1);

// The compilers that tests share: AVX-512 (where it is there) and AVX2.
std::vector<Jit*> test_jits();

}  // namespace luminal::backends::cpu
