// Hashes that are the same in every run and on every machine, so that no result depends on
// addresses or on the standard library's std::hash.
#pragma once

#include <cstdint>
#include <string_view>

namespace luminal::base {

// The finaliser of splitmix64: every input bit reaches every output bit.
constexpr uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

constexpr uint64_t combine(uint64_t seed, uint64_t value) { return mix(seed ^ mix(value)); }

// FNV-1a, mixed.
constexpr uint64_t hash(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325ull;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return mix(h);
}

}  // namespace luminal::base
