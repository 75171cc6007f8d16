// The interpreter's data: blocks of elements, one 64-bit lane each.
//
// Floats are held as double and rounded to their dtype after each op; all other dtypes are held as
// int64_t and wrap. Both represent every value of their dtypes exactly, so this defines an op and
// doesn't approximate it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "luminal/shape/dtype.h"

namespace luminal::interpret {

union Lane {
  double real;
  int64_t integer;
};

// The largest number of elements computed at once: a few arrays of this size stay in the cache.
inline constexpr int64_t kBlock = 1024;

// The indices of a block of elements: axis(k)[j] is element j's index along axis k.
struct Indices {
  int64_t count = 0;
  std::vector<const int64_t*> axes;
};

// A stack allocator for blocks: released in reverse order.
class Scratch {
 public:
  // Memory for `count` lanes or indices, valid until the enclosing Mark ends.
  Lane* lanes(int64_t count) { return reinterpret_cast<Lane*>(take(count)); }
  int64_t* integers(int64_t count) { return reinterpret_cast<int64_t*>(take(count)); }

  class Mark {
   public:
    explicit Mark(Scratch& scratch)
        : scratch_(scratch), chunk_(scratch.chunk_), used_(scratch.used_) {}
    ~Mark() {
      scratch_.chunk_ = chunk_;
      scratch_.used_ = used_;
    }
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;

   private:
    Scratch& scratch_;
    size_t chunk_;
    int64_t used_;
  };

 private:
  uint64_t* take(int64_t count);

  std::vector<std::unique_ptr<uint64_t[]>> chunks_;
  size_t chunk_ = 0;
  int64_t used_ = 0;
};

}  // namespace luminal::interpret
