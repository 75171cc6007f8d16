// GrowArray: a vector of trivially copyable data that grows in place if the allocator can.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace luminal::egraph {

// Tables grow to many megabytes by appending. `realloc` remaps pages instead of copying them, so
// the peak doesn't include the old copy.
template <typename T>
class GrowArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  GrowArray() = default;
  GrowArray(const GrowArray& other) {
    if (other.size_ == 0) return;
    allocate(other.size_);
    std::memcpy(data_, other.data_, other.size_ * sizeof(T));
    size_ = other.size_;
  }
  GrowArray(GrowArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  GrowArray& operator=(GrowArray other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~GrowArray() { std::free(data_); }

  size_t size() const { return size_; }
  size_t bytes() const { return capacity_ * sizeof(T); }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

  void push_back(T value) {
    if (size_ == capacity_) allocate(size_ + 1);
    data_[size_++] = value;
  }
  // Appends `count` uninitialised elements.
  T* extend(size_t count) {
    if (size_ + count > capacity_) allocate(size_ + count);
    size_ += count;
    return data_ + size_ - count;
  }
  // New elements are `value`.
  void resize(size_t size, T value) {
    if (size > size_) {
      T* added = extend(size - size_);
      std::fill(added, data_ + size_, value);
    }
    size_ = size;
  }
  void clear() { size_ = 0; }
  // Releases unused capacity.
  void shrink() {
    if (size_ == 0) {
      *this = GrowArray();
    } else if (size_ < capacity_) {
      reallocate(size_);
    }
  }

 private:
  void allocate(size_t least) { reallocate(std::max(least, capacity_ + capacity_ / 2)); }
  void reallocate(size_t capacity) {
    void* grown = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
    if (grown == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(grown);
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace luminal::egraph
