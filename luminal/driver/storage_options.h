// StorageOptions: the files that a compile reads and keeps.
#pragma once

#include <cstdint>
#include <string>

namespace luminal {

struct StorageOptions {
  std::string cache_folder = {};   // for plans and kernels; default: the user's; "none": no cache
  uint64_t cache_bytes = 1 << 30;  // its maximum size; the least recently used entries are evicted
  // The file of tuning records; default: the user's; "none": nothing is stored.
  std::string records = {};
  // A profile written by `luminal tune fusion`, for the policy Measured; it goes before the tuning
  // records. Missing entries are taken from these or measured, and added. Default: none.
  std::string fusion_profile = {};
  // A file with the machine's peak rates (`luminal doctor --json` prints them), for the cost model;
  // default: what `luminal doctor --measure` stored, else defaults for the instruction set.
  // CompileReport::machine says which.
  std::string machine = {};
};

}  // namespace luminal
