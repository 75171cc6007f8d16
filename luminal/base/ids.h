// Typed 32-bit ids of nodes in an arena: two kinds of id can't be mixed up.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace luminal {

template <typename Tag>
struct Id {
  static constexpr uint32_t kNone = 0xffffffffu;
  uint32_t value = kNone;

  constexpr bool valid() const { return value != kNone; }
  constexpr size_t index() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

}  // namespace luminal

template <typename Tag>
struct std::hash<luminal::Id<Tag>> {
  size_t operator()(luminal::Id<Tag> id) const noexcept { return id.value; }
};
