#include "tests/foreign/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace luminal::tests::foreign {
namespace {

using Wide = __int128;

Wide floor_of(Wide a, Wide b) {
  const Wide quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

Wide compute(IndexKind kind, Wide a, Wide b) {
  switch (kind) {
    case IndexKind::Number:
    case IndexKind::Variable:
    case IndexKind::Axis:
      break;
    case IndexKind::Plus:
      return a + b;
    case IndexKind::Minus:
      return a - b;
    case IndexKind::Times:
      return a * b;
    case IndexKind::FloorDiv:
      return floor_of(a, b);
    case IndexKind::CeilDiv:
      return -floor_of(-a, b);
    case IndexKind::Mod:
      return a - b * floor_of(a, b);
    case IndexKind::Min:
      return std::min(a, b);
    case IndexKind::Max:
      return std::max(a, b);
    case IndexKind::Less:
      return a < b ? 1 : 0;
    case IndexKind::LessEqual:
      return a <= b ? 1 : 0;
    case IndexKind::Greater:
      return a > b ? 1 : 0;
    case IndexKind::GreaterEqual:
      return a >= b ? 1 : 0;
    case IndexKind::And:
      return a != 0 && b != 0 ? 1 : 0;
    case IndexKind::Or:
      return a != 0 || b != 0 ? 1 : 0;
  }
  throw std::logic_error("a leaf isn't computed");
}

bool divides(IndexKind kind) {
  return kind == IndexKind::FloorDiv || kind == IndexKind::CeilDiv || kind == IndexKind::Mod;
}

constexpr Wide kMost = Wide{1} << 62;
// Products of bounds stay within 128 bits.
Wide saturated(Wide value) { return std::clamp(value, -kMost - 1, kMost + 1); }

void set_bounds(IndexNode& node) {
  const IndexNode &a = *node.a, &b = *node.b;
  if (node.kind == IndexKind::Mod) {
    node.low = b.low < 0 ? b.low + 1 : 0;
    node.high = b.high > 0 ? b.high - 1 : 0;
    return;
  }
  if (divides(node.kind) && b.low <= 0 && b.high >= 0) {
    // Whoever divides by what may be zero makes sure it isn't.
    const Wide most = std::max(a.high < 0 ? -a.high : a.high, a.low < 0 ? -a.low : a.low);
    node.low = -most - 1;
    node.high = most + 1;
    return;
  }
  // The other operations are monotone in each operand, or boolean.
  const bool logical = node.kind >= IndexKind::Less;
  node.low = logical ? 0 : kMost + 1;
  node.high = logical ? 1 : -kMost - 1;
  if (logical) return;
  for (Wide left : {a.low, a.high}) {
    for (Wide right : {b.low, b.high}) {
      const Wide value = saturated(compute(node.kind, left, right));
      node.low = std::min(node.low, value);
      node.high = std::max(node.high, value);
    }
  }
}

const char* symbol(IndexKind kind) {
  switch (kind) {
    case IndexKind::Number:
    case IndexKind::Variable:
    case IndexKind::Axis:
      return "";
    case IndexKind::Plus:
      return "+";
    case IndexKind::Minus:
      return "-";
    case IndexKind::Times:
      return "*";
    case IndexKind::FloorDiv:
      return "//";
    case IndexKind::CeilDiv:
      return "ceildiv";
    case IndexKind::Mod:
      return "%";
    case IndexKind::Min:
      return "min";
    case IndexKind::Max:
      return "max";
    case IndexKind::Less:
      return "<";
    case IndexKind::LessEqual:
      return "<=";
    case IndexKind::Greater:
      return ">";
    case IndexKind::GreaterEqual:
      return ">=";
    case IndexKind::And:
      return "and";
    case IndexKind::Or:
      return "or";
  }
  return "";
}

}  // namespace

Index number(int64_t value) {
  return std::make_shared<IndexNode>(
      IndexNode{.kind = IndexKind::Number, .number = value, .low = value, .high = value});
}

Index variable(int place, std::string name, int64_t low, int64_t high) {
  return std::make_shared<IndexNode>(IndexNode{.kind = IndexKind::Variable,
                                               .number = place,
                                               .name = std::move(name),
                                               .low = low,
                                               .high = high});
}

Index axis(int k, const Index& extent) {
  return std::make_shared<IndexNode>(IndexNode{
      .kind = IndexKind::Axis, .number = k, .low = 0, .high = std::max<Wide>(extent->high - 1, 0)});
}

Index combine(IndexKind kind, const Index& a, const Index& b) {
  auto node = std::make_shared<IndexNode>(IndexNode{.kind = kind, .a = a, .b = b});
  set_bounds(*node);
  return node;
}

bool is_safe(const Index& index) {
  if (index->low < -kMost || index->high > kMost) return false;
  if (!index->a) return true;
  if (divides(index->kind) && index->b->low <= 0 && index->b->high >= 0) return false;
  return is_safe(index->a) && is_safe(index->b);
}

bool is_number(const Index& index, int64_t value) {
  return index->kind == IndexKind::Number && index->number == value;
}

bool same(const Index& a, const Index& b) {
  if (a == b) return true;
  if (a->kind != b->kind || a->number != b->number) return false;
  return !a->a || (same(a->a, b->a) && same(a->b, b->b));
}

bool same(const Shape& a, const Shape& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Index& x, const Index& y) { return same(x, y); });
}

int64_t value_of(const IndexNode& index, std::span<const int64_t> variables,
                 std::span<const int64_t> position) {
  switch (index.kind) {
    case IndexKind::Number:
      return index.number;
    case IndexKind::Variable:
      return variables[static_cast<size_t>(index.number)];
    case IndexKind::Axis:
      return position[static_cast<size_t>(index.number)];
    default:
      break;
  }
  const int64_t a = value_of(*index.a, variables, position);
  const int64_t b = value_of(*index.b, variables, position);
  if (divides(index.kind) && b == 0) throw std::domain_error("an index is divided by zero");
  const Wide value = compute(index.kind, a, b);
  if (value < std::numeric_limits<int64_t>::min() || value > std::numeric_limits<int64_t>::max()) {
    throw std::domain_error("an index leaves 64 bits");
  }
  return static_cast<int64_t>(value);
}

std::vector<int64_t> sizes_of(const Shape& shape, std::span<const int64_t> variables) {
  std::vector<int64_t> sizes;
  for (const Index& dim : shape) sizes.push_back(value_of(*dim, variables));
  return sizes;
}

int64_t count_of(std::span<const int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return count;
}

std::string text_of(const IndexNode& index) {
  switch (index.kind) {
    case IndexKind::Number:
      return index.number < 0 ? fmt::format("({})", index.number) : fmt::format("{}", index.number);
    case IndexKind::Variable:
      return index.name;
    case IndexKind::Axis:
      return fmt::format("i{}", index.number);
    case IndexKind::CeilDiv:
    case IndexKind::Min:
    case IndexKind::Max:
      return fmt::format("{}({}, {})", symbol(index.kind), text_of(*index.a), text_of(*index.b));
    default:
      return fmt::format("({} {} {})", text_of(*index.a), symbol(index.kind), text_of(*index.b));
  }
}

std::string text_of(const Shape& shape) {
  std::string text;
  for (const Index& dim : shape) text += (text.empty() ? "" : ", ") + text_of(*dim);
  return "[" + text + "]";
}

}  // namespace luminal::tests::foreign
