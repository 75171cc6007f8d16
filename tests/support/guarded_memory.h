// Memory that stands against unmapped pages, and what happens when code leaves it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace luminal::tests {

// Which end of a buffer touches a page that can't be accessed. Behind the other end there are bytes
// whose change is noticed.
enum class GuardedSide { End, Start };
inline const char* name(GuardedSide side) { return side == GuardedSide::End ? "end" : "start"; }

// Rooms for buffers, mapped once and used again.
class GuardedMemory {
 public:
  GuardedMemory() = default;
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  // Forgets the buffers placed so far.
  void clear() { used_ = 0; }
  // Room for `size` bytes, called `what` in messages, at a multiple of `alignment`, which moves it
  // away from the guarded end as far as it must. Everything around it is filled with `canary`.
  std::byte* place(std::string what, size_t size, size_t alignment, GuardedSide side,
                   std::byte canary);

  // Calls `body`; says which buffer it left, and where to, by an access that faulted or by a byte
  // that changed beside it; nothing if it stayed inside.
  std::optional<std::string> escape_of(const std::function<void()>& body);

 private:
  struct Room {
    std::byte* mapping = nullptr;
    size_t mapped = 0;  // with a guard page at each end
    std::string what = {};
    std::byte* data = nullptr;
    size_t size = 0;
    std::byte canary = {};
  };
  std::string describe(const Room& room, const std::byte* address, const char* how) const;
  std::optional<std::string> changed_canary() const;

  std::vector<Room> rooms_;
  size_t used_ = 0;
};

}  // namespace luminal::tests
