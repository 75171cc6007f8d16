// LibraryMatmul: a GEMM by oneDNN, epilogue included: c = post_ops(a · b + bias). A build without
// oneDNN has library_matmul_none.cpp in place of library_matmul.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "luminal/base/result.h"
#include "luminal/shape/dtype.h"

namespace luminal::backends::cpu {

// In elements. 0 means broadcast: allowed for any dim of a post-op's tensor and for batch dims of a
// and b, not for c.
struct MatmulStrides {
  std::vector<int64_t> batch = {};
  int64_t row = 0;
  int64_t column = 0;
};

enum class PostOpKind : uint8_t {
  Relu,
  GeluTanh,  // x · ½ · (1 + tanh(√(2/π) · (x + 0.044715 x³)))
  GeluErf,   // x · ½ · (1 + erf(x / √2))
  Swish,     // x / (1 + exp(−x))
  Add,       // adds a tensor
  Multiply,  // multiplies by a tensor
};

inline bool has_tensor(PostOpKind kind) {
  return kind == PostOpKind::Add || kind == PostOpKind::Multiply;
}

struct PostOp {
  PostOpKind kind;
  // Of the tensor of Add and Multiply. oneDNN is fast for a tensor with the layout of c, for one
  // row broadcast to all rows, and for a scalar; most others fall to its reference loops and are
  // rejected.
  DType dtype = DType::F32;
  MatmulStrides strides = {};
};

// a is batch × m × k, b batch × k × n, c batch × m × n. Accumulates and computes the epilogue in
// f32, rounded once.
struct LibraryMatmulShape {
  DType dtype = DType::F32;   // of a and b: f32, bf16
  DType result = DType::F32;  // f32, bf16
  std::vector<int64_t> batch = {};
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  MatmulStrides a = {};
  MatmulStrides b = {};
  MatmulStrides c = {};
  bool pack_b = false;             // run() gets b in the library's own layout, made by pack()
  std::optional<DType> bias = {};  // n values
  std::vector<PostOp> post_ops = {};
  // Also accept oneDNN's reference loops, which are slow but support everything: for other sizes of
  // a product that was worth it at the typical ones.
  bool accept_plain_loops = false;
};

struct LibraryMatmulTensors {
  const void* a = nullptr;
  const void* b = nullptr;  // packed if pack_b
  void* c = nullptr;
  const void* bias = nullptr;
  std::span<const void* const> post_ops = {};  // of those that have a tensor, in their order
  void* scratch = nullptr;                     // scratch_bytes(), aligned to 64
};

// Not thread-safe, and must not be run inside of a parallel region.
class LibraryMatmul {
 public:
  virtual ~LibraryMatmul() = default;

  // The implementation that oneDNN chose, by its name: "brg:avx512_core_amx".
  virtual std::string routine() const = 0;
  // Size of the packed b; 0 unless pack_b.
  virtual size_t packed_bytes() const = 0;
  // Describes the layout of b that run() needs: equal texts mean equal layouts.
  virtual std::string layout() const = 0;
  // Whether that is b's layout without packing.
  virtual bool wants_b_as_it_is() const = 0;
  // `packed` is aligned to 64. Allocates; DeviceError if oneDNN fails.
  virtual void pack(const void* b, void* packed) const = 0;
  virtual size_t scratch_bytes() const = 0;
  // oneDNN builds a table of arguments in each call: a few allocations, independent of the sizes.
  // DeviceError if it fails.
  virtual void run(const LibraryMatmulTensors& tensors) = 0;
};

bool library_available();
std::string library_version();  // "3.2.0"; empty without oneDNN
// For reports: "oneDNN 3.2.0", or "without oneDNN".
inline std::string library_text() {
  return library_available() ? "oneDNN " + library_version() : "without oneDNN";
}

// Fails if oneDNN isn't available, can't compute it, or has only reference loops for it.
// `packed_as` is a product with the same b whose packed form this one must read, so that a weight
// packed once serves several m.
Result<std::unique_ptr<LibraryMatmul>> make_library_matmul(
    const LibraryMatmulShape& shape, int threads, const LibraryMatmul* packed_as = nullptr);

}  // namespace luminal::backends::cpu
