// Typed 32-bit ids: two kinds of id can't be mixed up. An id is the position of an element in the
// list that holds its kind; IdVector is such a list.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

namespace luminal {

template <typename Tag>
struct Id {
  static constexpr uint32_t kNone = 0xffffffffu;
  uint32_t value = kNone;

  static constexpr Id at(std::integral auto position) {
    return Id{static_cast<uint32_t>(position)};
  }

  // The position, or −1 for none: how files and texts have an id that may be missing.
  static constexpr Id of_number(int64_t number) { return number < 0 ? Id{} : at(number); }
  constexpr int64_t number() const { return valid() ? int64_t{value} : -1; }

  constexpr bool valid() const { return value != kNone; }
  constexpr size_t index() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

// The ids of consecutive positions: from `first` to the one before `past`.
template <typename IdType>
struct IdRange {
  struct Iterator {
    using value_type = IdType;
    using difference_type = std::ptrdiff_t;
    IdType id;

    IdType operator*() const { return id; }
    Iterator& operator++() { return ++id.value, *this; }
    Iterator operator++(int) { return {IdType{id.value++}}; }
    friend bool operator==(Iterator, Iterator) = default;
  };
  size_t first, past;

  Iterator begin() const { return {IdType::at(first)}; }
  Iterator end() const { return {IdType::at(past)}; }
};

// A vector that is indexed by ids of one kind.
template <typename IdType, typename T>
class IdVector {
 public:
  using value_type = T;
  using reference = typename std::vector<T>::reference;
  using const_reference = typename std::vector<T>::const_reference;

  IdVector() = default;
  explicit IdVector(size_t size, T value = T()) : items_(size, value) {}
  IdVector(std::initializer_list<T> items) : items_(items) {}
  IdVector(std::vector<T> items) : items_(std::move(items)) {}

  reference operator[](IdType id) { return items_[id.index()]; }
  const_reference operator[](IdType id) const { return items_[id.index()]; }
  reference front() { return items_.front(); }
  const_reference front() const { return items_.front(); }
  reference back() { return items_.back(); }
  const_reference back() const { return items_.back(); }
  bool has(IdType id) const { return id.index() < items_.size(); }

  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  IdType next() const { return IdType::at(size()); }  // of the element that push_back would add
  IdType push_back(T item) {
    items_.push_back(std::move(item));
    return IdType::at(size() - 1);
  }
  void pop_back() { items_.pop_back(); }
  void resize(size_t size, T value = T()) { items_.resize(size, value); }

  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  IdRange<IdType> ids() const { return {0, size()}; }
  const std::vector<T>& items() const { return items_; }
  friend bool operator==(const IdVector&, const IdVector&) = default;

 private:
  std::vector<T> items_;
};

}  // namespace luminal

template <typename Tag>
struct std::hash<luminal::Id<Tag>> {
  size_t operator()(luminal::Id<Tag> id) const noexcept { return id.value; }
};
