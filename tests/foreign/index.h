// Index: an index expression of the foreign generator, a plain tree with an evaluator of its own.
// Nothing is simplified: what is printed for the compiler is what was made here.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace luminal::tests::foreign {

enum class IndexKind : uint8_t {
  Number,
  Variable,  // by its place in Program::variables
  Axis,      // i0, i1, …
  Plus,
  Minus,
  Times,
  FloorDiv,
  CeilDiv,
  Mod,  // has the sign of the divisor
  Min,
  Max,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  And,  // 1 if both are non-zero, else 0
  Or,   // 1 if either is non-zero, else 0
};

struct IndexNode;
using Index = std::shared_ptr<const IndexNode>;
using Shape = std::vector<Index>;

struct IndexNode {
  IndexKind kind;
  int64_t number = 0;     // of a Number; the place of a Variable; the axis of an Axis
  std::string name = {};  // of a Variable
  Index a = {}, b = {};
  // Every value lies between these, for all values of variables and axes.
  __int128 low = 0, high = 0;
};

Index number(int64_t value);
Index variable(int place, std::string name, int64_t low, int64_t high);
// 0 ≤ value < extent.
Index axis(int k, const Index& extent);
Index combine(IndexKind kind, const Index& a, const Index& b);

inline Index plus(const Index& a, const Index& b) { return combine(IndexKind::Plus, a, b); }
inline Index minus(const Index& a, const Index& b) { return combine(IndexKind::Minus, a, b); }
inline Index times(const Index& a, const Index& b) { return combine(IndexKind::Times, a, b); }
inline Index floor_div(const Index& a, const Index& b) {
  return combine(IndexKind::FloorDiv, a, b);
}
inline Index mod(const Index& a, const Index& b) { return combine(IndexKind::Mod, a, b); }
inline Index min(const Index& a, const Index& b) { return combine(IndexKind::Min, a, b); }
inline Index max(const Index& a, const Index& b) { return combine(IndexKind::Max, a, b); }

// Whether no part of it can leave 62 bits or divide by zero.
bool is_safe(const Index& index);
bool is_number(const Index& index, int64_t value);
bool same(const Index& a, const Index& b);
bool same(const Shape& a, const Shape& b);

// The value with these variables and this position. Throws std::domain_error for what has none.
int64_t value_of(const IndexNode& index, std::span<const int64_t> variables,
                 std::span<const int64_t> position = {});
std::vector<int64_t> sizes_of(const Shape& shape, std::span<const int64_t> variables);
int64_t count_of(std::span<const int64_t> sizes);

// With parentheses around every operation.
std::string text_of(const IndexNode& index);
std::string text_of(const Shape& shape);

}  // namespace luminal::tests::foreign
