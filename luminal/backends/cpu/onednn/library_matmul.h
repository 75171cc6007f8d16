// LibraryMatmul: a matrix product that oneDNN computes, epilogue included: c = post_ops(a · b +
// bias). A build without oneDNN has library_matmul_none.cpp in place of library_matmul.cpp and
// makes none.
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

// In elements. 0 is a dim along which the values are the same: any of a tensor that is added or
// multiplied, a batch dim of a and b, none of c.
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
  Add,       // a tensor
  Multiply,  // by a tensor
};

inline bool has_tensor(PostOpKind kind) {
  return kind == PostOpKind::Add || kind == PostOpKind::Multiply;
}

struct PostOp {
  PostOpKind kind;
  // Of the tensor of Add and Multiply. oneDNN takes one laid out as c is, one row for all rows
  // and a single value; for most others it has only plain loops, and no product is made.
  DType dtype = DType::F32;
  MatmulStrides strides = {};
};

// a is batch × m × k, b batch × k × n, c batch × m × n. Sums and epilogue are in f32, rounded once.
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
  // Takes oneDNN's plain loops too, which are slow but can everything: for other sizes of what was
  // worth it at some.
  bool accept_plain_loops = false;
};

struct LibraryMatmulTensors {
  const void* a = nullptr;
  const void* b = nullptr;  // packed where the shape says so
  void* c = nullptr;
  const void* bias = nullptr;
  std::span<const void* const> post_ops = {};  // of those that have a tensor, in their order
  void* scratch = nullptr;                     // scratch_bytes(), aligned to 64
};

// For one thread at a time, and not inside of a parallel region.
class LibraryMatmul {
 public:
  virtual ~LibraryMatmul() = default;

  // What oneDNN chose, as it names it: "brg:avx512_core_amx".
  virtual std::string routine() const = 0;
  // What b takes once packed; 0 where the shape doesn't ask for that.
  virtual size_t packed_bytes() const = 0;
  // In which order run() wants b: equal text, equal order.
  virtual std::string layout() const = 0;
  // Whether that is the order b has without being packed.
  virtual bool wants_b_as_it_is() const = 0;
  // `packed` is aligned to 64. Allocates; DeviceError where oneDNN fails.
  virtual void pack(const void* b, void* packed) const = 0;
  virtual size_t scratch_bytes() const = 0;
  // oneDNN makes a table of its arguments in each call: some allocations, none of which grows with
  // the sizes. DeviceError where it fails.
  virtual void run(const LibraryMatmulTensors& tensors) = 0;
};

bool library_available();
std::string library_version();  // "3.2.0"; empty where there is none
// For reports: "oneDNN 3.2.0", or "without oneDNN".
inline std::string library_text() {
  return library_available() ? "oneDNN " + library_version() : "without oneDNN";
}

// A failure where oneDNN isn't there, can't, or has only plain loops for it. `packed_as` is one
// with the same b whose packed form this one is to read: a weight packed once serves several m.
Result<std::unique_ptr<LibraryMatmul>> make_library_matmul(
    const LibraryMatmulShape& shape, int threads, const LibraryMatmul* packed_as = nullptr);

}  // namespace luminal::backends::cpu
