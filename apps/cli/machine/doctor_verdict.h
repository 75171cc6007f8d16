// The verdict of `luminal doctor`: whether all is well, and how to fix what isn't.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace luminal::cli {

struct HealthFacts {
  std::string cache_folder;  // empty if there is none
  bool cache_writable = true;
  std::string cache_not_private;  // why others could change it; empty if they can't
  std::string transparent_huge_pages;
  bool has_avx2 = true;
  uint64_t available_memory = 0;
  bool line_editing = true;
};

struct HealthFinding {
  std::string problem;
  std::string remedy;
};

// The most severe first; empty if all is well.
std::vector<HealthFinding> what_to_mend(const HealthFacts& facts);

// "verdict: all is well", or the number of findings with one line each.
std::string verdict_text(const std::vector<HealthFinding>& findings, bool coloured);

}  // namespace luminal::cli
