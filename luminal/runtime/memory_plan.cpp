#include "luminal/runtime/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "luminal/base/check.h"

namespace luminal::runtime {
namespace {

// A range of memory that one request uses, then those that take it over one after the other.
struct Block {
  size_t bytes = 0;
  int first = 0;
  int last = 0;
};

size_t aligned(size_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

// Finds the blocks that are alive together with another without looking at all of them. A segment
// tree over steps: a block is stored at the O(log n) nodes that cover its live range, and the
// blocks alive at a step are those on the path from its leaf to the root.
class BlocksByTime {
 public:
  explicit BlocksByTime(const std::vector<Block>& blocks) : blocks_(blocks) {
    for (const Block& block : blocks) n_steps_ = std::max(n_steps_, block.last + 1);
    nodes_.resize(2 * static_cast<size_t>(n_steps_));
    begins_.resize(static_cast<size_t>(n_steps_));
  }

  void add(int id) {
    const Block& block = blocks_[static_cast<size_t>(id)];
    begins_[static_cast<size_t>(block.first)].push_back(id);
    auto from = static_cast<size_t>(block.first + n_steps_);
    auto to = static_cast<size_t>(block.last + 1 + n_steps_);
    for (; from < to; from /= 2, to /= 2) {
      if (from % 2 == 1) nodes_[from++].push_back(id);
      if (to % 2 == 1) nodes_[--to].push_back(id);
    }
  }

  // Appends the blocks alive when `block` begins, then those that begin during its live range.
  void alive_with(const Block& block, std::vector<int>& out) const {
    auto add_all = [&](const std::vector<int>& ids) {
      out.insert(out.end(), ids.begin(), ids.end());
    };
    for (auto node = static_cast<size_t>(block.first + n_steps_); node > 0; node /= 2) {
      add_all(nodes_[node]);
    }
    for (int step = block.first + 1; step <= block.last; ++step) {
      add_all(begins_[static_cast<size_t>(step)]);
    }
  }

 private:
  const std::vector<Block>& blocks_;
  int n_steps_ = 0;
  std::vector<std::vector<int>> nodes_;   // of the tree: its leaves are the last n_steps_
  std::vector<std::vector<int>> begins_;  // by step
};

// Decides which requests reuse the memory of which others in place. Returns the block of each.
std::vector<int> form_blocks(std::span<const BufferRequest> requests, std::vector<int>& took,
                             std::vector<Block>& blocks) {
  std::vector<int> by_first(requests.size());
  std::iota(by_first.begin(), by_first.end(), 0);
  std::sort(by_first.begin(), by_first.end(), [&](int a, int b) {
    const int left = requests[static_cast<size_t>(a)].first;
    const int right = requests[static_cast<size_t>(b)].first;
    return left != right ? left < right : a < b;
  });
  std::vector<int> block_of(requests.size(), -1);
  std::vector<bool> taken(requests.size(), false);
  for (int id : by_first) {
    const auto i = static_cast<size_t>(id);
    const BufferRequest& request = requests[i];
    LUMINAL_CHECK(request.first <= request.last, "a buffer dies before it is written");
    for (int candidate : request.may_take) {
      const auto from = static_cast<size_t>(candidate);
      if (block_of[from] < 0 || taken[from] || requests[from].last != request.first) continue;
      if (requests[from].first == request.first) continue;  // both are written by this step
      if (aligned(requests[from].bytes) < request.bytes) continue;
      taken[from] = true;
      took[i] = candidate;
      block_of[i] = block_of[from];
      Block& block = blocks[static_cast<size_t>(block_of[i])];
      block.last = std::max(block.last, request.last);
      break;
    }
    if (block_of[i] >= 0) continue;
    block_of[i] = static_cast<int>(blocks.size());
    blocks.push_back({aligned(request.bytes), request.first, request.last});
  }
  return block_of;
}

// Best fit: places each block in the smallest sufficient gap between the already placed blocks that
// are alive at the same time, or above them if there is none. Returns the arena's size.
size_t place(const std::vector<Block>& blocks, const std::vector<int>& order,
             std::vector<size_t>& offsets) {
  size_t peak = 0;
  BlocksByTime placed(blocks);
  std::vector<int> rivals;  // by offset
  for (int id : order) {
    const Block& block = blocks[static_cast<size_t>(id)];
    rivals.clear();
    placed.alive_with(block, rivals);
    std::sort(rivals.begin(), rivals.end(), [&](int a, int b) {
      const size_t left = offsets[static_cast<size_t>(a)], right = offsets[static_cast<size_t>(b)];
      return left != right ? left < right : a < b;
    });
    size_t end = 0;
    size_t best = SIZE_MAX, smallest_gap = SIZE_MAX;
    for (int other : rivals) {
      const size_t start = offsets[static_cast<size_t>(other)];
      if (start > end && start - end >= block.bytes && start - end < smallest_gap) {
        smallest_gap = start - end;
        best = end;
      }
      end = std::max(end, start + blocks[static_cast<size_t>(other)].bytes);
    }
    const size_t offset = best == SIZE_MAX ? end : best;
    offsets[static_cast<size_t>(id)] = offset;
    peak = std::max(peak, offset + block.bytes);
    if (block.bytes > 0) placed.add(id);
  }
  return peak;
}

size_t most_alive(const std::vector<Block>& blocks) {
  // A sweep over time: the sum changes where a block begins and just after one ends.
  std::vector<std::pair<int, size_t>> begins, ends;
  for (const Block& block : blocks) {
    begins.emplace_back(block.first, block.bytes);
    ends.emplace_back(block.last + 1, block.bytes);
  }
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  size_t alive = 0, most = 0, ended = 0;
  for (const auto& [step, bytes] : begins) {
    for (; ended < ends.size() && ends[ended].first <= step; ++ended) alive -= ends[ended].second;
    alive += bytes;
    most = std::max(most, alive);
  }
  return most;
}

}  // namespace

MemoryPlan plan_memory(std::span<const BufferRequest> requests) {
  MemoryPlan plan;
  plan.took.assign(requests.size(), -1);
  std::vector<Block> blocks;
  const std::vector<int> block_of = form_blocks(requests, plan.took, blocks);
  plan.needed = most_alive(blocks);
  for (const BufferRequest& request : requests) plan.unshared += aligned(request.bytes);

  // Largest first leaves the gaps to small blocks and is nearly always the best order. Where it
  // isn't optimal, the order of time is tried too.
  std::vector<int> by_time(blocks.size());
  std::iota(by_time.begin(), by_time.end(), 0);
  std::vector<int> by_size = by_time;
  std::sort(by_size.begin(), by_size.end(), [&](int a, int b) {
    const size_t left = blocks[static_cast<size_t>(a)].bytes;
    const size_t right = blocks[static_cast<size_t>(b)].bytes;
    return left != right ? left > right : a < b;
  });
  std::vector<size_t> offsets(blocks.size());
  plan.peak = place(blocks, by_size, offsets);
  if (plan.peak > plan.needed) {
    std::vector<size_t> others(blocks.size());
    const size_t peak = place(blocks, by_time, others);
    if (peak < plan.peak) {
      plan.peak = peak;
      offsets = std::move(others);
    }
  }
  for (int block : block_of) plan.offsets.push_back(offsets[static_cast<size_t>(block)]);
  return plan;
}

}  // namespace luminal::runtime
