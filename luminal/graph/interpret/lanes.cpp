#include "luminal/graph/interpret/lanes.h"

#include "luminal/base/check.h"

namespace luminal::interpret {
namespace {

constexpr int64_t kChunk = int64_t{1} << 20;

}  // namespace

uint64_t* Scratch::take(int64_t count) {
  LUMINAL_CHECK(count <= kChunk, "a block is larger than a chunk");
  if (chunks_.empty()) chunks_.push_back(std::make_unique<uint64_t[]>(kChunk));
  if (used_ + count > kChunk) {
    ++chunk_;
    used_ = 0;
    if (chunk_ == chunks_.size()) chunks_.push_back(std::make_unique<uint64_t[]>(kChunk));
  }
  uint64_t* result = chunks_[chunk_].get() + used_;
  used_ += count;
  return result;
}

}  // namespace luminal::interpret
