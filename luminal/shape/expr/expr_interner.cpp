// Interning: sharded hash tables of ids, nodes in chunks whose addresses never change.
#include "luminal/shape/expr/expr_interner.h"

#include "luminal/base/check.h"
#include "luminal/base/hash.h"
#include "luminal/shape/expr/expr_bounds.h"
#include "luminal/shape/expr/expr_size.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <memory>
#include <mutex>

namespace luminal::shape {

uint64_t hash_key(const NodeKey& key) {
  uint64_t h = base::mix(static_cast<uint64_t>(key.kind) * 2 + (key.opaque ? 1 : 0));
  h = base::combine(h, static_cast<uint64_t>(key.constant));
  switch (key.kind) {
    case ExprKind::Const:
      return h;
    case ExprKind::Var:
      h = base::combine(h, base::hash(key.name));
      h = base::combine(h, static_cast<uint64_t>(key.lower));
      return base::combine(h, static_cast<uint64_t>(key.upper));
    case ExprKind::Index:
      h = base::combine(h, static_cast<uint64_t>(key.axis));
      break;
    case ExprKind::Sum:
    case ExprKind::Product:
    case ExprKind::FloorDiv:
    case ExprKind::CeilDiv:
    case ExprKind::Mod:
    case ExprKind::Min:
    case ExprKind::Max:
    case ExprKind::Less:
    case ExprKind::GreaterEqual:
    case ExprKind::And:
    case ExprKind::Or:
      break;
  }
  for (Expr e : key.operands) h = base::combine(h, e.hash());
  for (int64_t c : key.coefficients) h = base::combine(h, static_cast<uint64_t>(c));
  return h;
}

namespace {

// Constants in [kSmallMin, kSmallMax] have fixed ids, so creating one needs no lookup.
constexpr int64_t kSmallMin = -256;
constexpr int64_t kSmallMax = 4095;
constexpr uint32_t kSmallCount = static_cast<uint32_t>(kSmallMax - kSmallMin + 1);

constexpr int kShardBits = 5;
constexpr int kFirstChunkBits = 13;
constexpr uint32_t kEmpty = 0xffffffffu;

bool matches(const Node& n, const NodeKey& key) {
  return n.kind == key.kind && n.opaque == key.opaque && n.axis == key.axis &&
         n.constant == key.constant && std::ranges::equal(n.operand_span(), key.operands) &&
         std::ranges::equal(n.coefficient_span(), key.coefficients) &&
         (key.kind != ExprKind::Var ||
          (n.name_view() == key.name && n.lower == key.lower && n.upper == key.upper));
}

// The fields of a node that follow from its key.
Node derive(const NodeKey& key, uint64_t hash) {
  Node n;
  n.hash = hash;
  n.kind = key.kind;
  n.opaque = key.opaque;
  n.axis = key.axis;
  n.constant = key.constant;
  const Bounds bounds = bounds_of(key);
  n.lower = bounds.lower;
  n.upper = bounds.upper;
  n.has_variables = key.kind == ExprKind::Var;
  n.has_floor_div = key.kind == ExprKind::FloorDiv;
  n.has_mod = key.kind == ExprKind::Mod;
  if (key.kind == ExprKind::Index) n.index_mask = index_bit(key.axis);
  uint64_t size = 1;
  for (Expr e : key.operands) {
    const Node& child = node(e);
    n.has_variables |= child.has_variables;
    n.index_mask |= child.index_mask;
    size += child.tree_size;
    if (key.kind == ExprKind::Product) {
      n.has_floor_div |= child.kind == ExprKind::FloorDiv;
      n.has_mod |= child.kind == ExprKind::Mod;
    }
  }
  n.tree_size = static_cast<uint32_t>(std::min<uint64_t>(size, UINT32_MAX));
  return n;
}

class Interner {
 public:
  Interner() {
    for (uint32_t id = 0; id < kSmallCount; ++id) {
      const NodeKey key{.constant = kSmallMin + static_cast<int64_t>(id)};
      slot(id) = derive(key, hash_key(key));
    }
    next_id_.store(kSmallCount, std::memory_order_relaxed);
  }

  const Node& at(uint32_t id) const {
    const auto [chunk, offset] = place(id);
    return chunks_[chunk].load(std::memory_order_acquire)[offset];
  }

  uint32_t find_or_add(const NodeKey& key) {
    const uint64_t hash = hash_key(key);
    Shard& shard = shards_[hash >> (64 - kShardBits)];
    {
      std::lock_guard lock(shard.mutex);
      const uint32_t found = shard.slots.empty() ? kEmpty : shard.slots[find(shard, key, hash)];
      if (found != kEmpty) return found;
    }
    // Outside the lock, since bounds are expensive. Another thread may add the node meanwhile.
    const Node fresh = derive(key, hash);
    std::lock_guard lock(shard.mutex);
    if ((shard.count + 1) * 2 > shard.slots.size()) grow(shard);
    const size_t position = find(shard, key, hash);
    if (shard.slots[position] != kEmpty) return shard.slots[position];
    const uint32_t id = next_id_.fetch_add(1, std::memory_order_relaxed);
    LUMINAL_CHECK(id < kEmpty, "more than 2^32 distinct expressions");
    Node& target = slot(id);
    target = fresh;
    store_lists(shard, key, target);
    shard.slots[position] = id;
    ++shard.count;
    return id;
  }

 private:
  struct alignas(64) Shard {
    std::mutex mutex;
    std::vector<uint32_t> slots;
    size_t count = 0;
    std::byte* block = nullptr;
    size_t block_left = 0;
  };

  // Chunk 0 holds ids below 2^13; chunk k holds [2^(12+k), 2^(13+k)).
  static std::pair<size_t, uint32_t> place(uint32_t id) {
    const uint32_t bits = static_cast<uint32_t>(std::bit_width(id));
    if (bits <= kFirstChunkBits) return {0, id};
    return {bits - kFirstChunkBits, id - (uint32_t{1} << (bits - 1))};
  }

  Node& slot(uint32_t id) {
    const auto [chunk, offset] = place(id);
    Node* nodes = chunks_[chunk].load(std::memory_order_acquire);
    if (!nodes) {
      std::lock_guard lock(chunk_mutex_);
      nodes = chunks_[chunk].load(std::memory_order_relaxed);
      if (!nodes) {
        const size_t bits = chunk == 0 ? kFirstChunkBits : kFirstChunkBits + chunk - 1;
        nodes = new Node[size_t{1} << bits];
        chunks_[chunk].store(nodes, std::memory_order_release);
      }
    }
    return nodes[offset];
  }

  size_t find(const Shard& shard, const NodeKey& key, uint64_t hash) const {
    const size_t mask = shard.slots.size() - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      const uint32_t id = shard.slots[i];
      if (id == kEmpty) return i;
      const Node& n = at(id);
      if (n.hash == hash && matches(n, key)) return i;
    }
  }

  void grow(Shard& shard) {
    std::vector<uint32_t> old = std::move(shard.slots);
    shard.slots.assign(std::max<size_t>(64, old.size() * 2), kEmpty);
    const size_t mask = shard.slots.size() - 1;
    for (uint32_t id : old) {
      if (id == kEmpty) continue;
      size_t i = at(id).hash & mask;
      while (shard.slots[i] != kEmpty) i = (i + 1) & mask;
      shard.slots[i] = id;
    }
  }

  // Memory that is never freed, 8-byte aligned.
  static std::byte* allocate(Shard& shard, size_t bytes) {
    constexpr size_t kBlock = size_t{1} << 16;
    bytes = (bytes + 7) & ~size_t{7};
    if (bytes > kBlock / 4) return static_cast<std::byte*>(::operator new(bytes));
    if (bytes > shard.block_left) {
      shard.block = static_cast<std::byte*>(::operator new(kBlock));
      shard.block_left = kBlock;
    }
    std::byte* result = shard.block;
    shard.block += bytes;
    shard.block_left -= bytes;
    return result;
  }

  static void store_lists(Shard& shard, const NodeKey& key, Node& target) {
    target.n_operands = static_cast<uint32_t>(key.operands.size());
    target.name_size = static_cast<uint32_t>(key.name.size());
    if (!key.operands.empty()) {
      auto* space = reinterpret_cast<Expr*>(allocate(shard, key.operands.size_bytes()));
      std::uninitialized_copy(key.operands.begin(), key.operands.end(), space);
      target.operands = space;
    }
    if (!key.coefficients.empty()) {
      auto* space = reinterpret_cast<int64_t*>(allocate(shard, key.coefficients.size_bytes()));
      std::uninitialized_copy(key.coefficients.begin(), key.coefficients.end(), space);
      target.coefficients = space;
    }
    if (!key.name.empty()) {
      auto* space = reinterpret_cast<char*>(allocate(shard, key.name.size()));
      std::memcpy(space, key.name.data(), key.name.size());
      target.name = space;
    }
  }

  std::array<std::atomic<Node*>, 33 - kFirstChunkBits> chunks_{};
  std::mutex chunk_mutex_;
  std::atomic<uint32_t> next_id_{0};
  std::array<Shard, size_t{1} << kShardBits> shards_;
};

// Leaked on purpose: expressions may be used by destructors of static objects.
Interner& interner() {
  static Interner& instance = *new Interner;
  return instance;
}

}  // namespace

const Node& node(Expr e) { return interner().at(e.id()); }

Expr intern(const NodeKey& key) {
  const Expr e = ExprAccess::make(interner().find_or_add(key));
  if (key.kind == ExprKind::Const || key.kind == ExprKind::Var) return e;
  const Node& n = node(e);
  const bool one_value = n.lower == n.upper && n.lower != INT64_MIN && n.lower != INT64_MAX;
  return one_value ? Expr(n.lower) : e;
}

Expr intern_operands(ExprKind kind, std::span<const Expr> operands, bool opaque) {
  return intern({.kind = kind, .opaque = opaque, .operands = operands});
}

Expr intern_binary(ExprKind kind, Expr a, Expr b, bool opaque) {
  const std::array<Expr, 2> operands{a, b};
  return intern_operands(kind, operands, opaque);
}

uint32_t tree_size(Expr e) { return node(e).tree_size; }

}  // namespace luminal::shape

namespace luminal {

Expr::Expr() : id_(static_cast<uint32_t>(-shape::kSmallMin)) {}

Expr Expr::constant(int64_t value) {
  if (value >= shape::kSmallMin && value <= shape::kSmallMax) {
    return ExprAccess::make(static_cast<uint32_t>(value - shape::kSmallMin));
  }
  return shape::intern({.constant = value});
}

}  // namespace luminal
