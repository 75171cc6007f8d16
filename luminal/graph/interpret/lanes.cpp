#include "luminal/graph/interpret/lanes.h"

#include "luminal/base/check.h"

namespace luminal::interpret {
namespace {

// Lanes per chunk: a few dozen blocks, so that a small graph needs one small allocation.
constexpr int64_t kChunk = 32 * kBlock;

}  // namespace

uint64_t* Scratch::take(int64_t count) {
  LUMINAL_CHECK(count <= kChunk, "a block is larger than a chunk");
  if (chunks_.empty()) chunks_.push_back(std::make_unique_for_overwrite<uint64_t[]>(kChunk));
  if (used_ + count > kChunk) {
    ++chunk_;
    used_ = 0;
    if (chunk_ == chunks_.size())
      chunks_.push_back(std::make_unique_for_overwrite<uint64_t[]>(kChunk));
  }
  uint64_t* result = chunks_[chunk_].get() + used_;
  used_ += count;
  return result;
}

}  // namespace luminal::interpret
