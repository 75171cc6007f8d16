// Peaks: what a machine does at most, in a second. The only roofline there is: of the cost model,
// explain, traces, benchmarks, --stats and the search's stop.
//
//   const Peaks peaks = peaks_of_this_machine();
//   peaks.read_bytes(1)        13.1e9 on a Xeon of 2.5 GHz, 24e9 with two threads
//   peaks.f32_products         306e9 with AVX-512 on two threads
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::machine {

// Of memory beyond the caches, bytes per second of all threads together. A copy counts what it
// reads and what it writes.
struct Bandwidth {
  int threads = 1;
  double read = 0;
  double copy = 0;

  bool operator==(const Bandwidth&) const = default;
};

enum class PeaksOrigin : uint8_t {
  Default,   // stated for the instruction set, not measured
  Measured,  // on this machine
  Given,     // by a file
};

struct Peaks {
  PeaksOrigin origin = PeaksOrigin::Default;
  std::string source;             // the instruction set, the day, or the file
  std::string processor;          // its name
  int threads = 1;                // that the rates below are of
  std::vector<Bandwidth> memory;  // by the number of threads, ascending
  // Operations per second on all threads. A multiplication with its addition counts two.
  double elementwise = 0;           // f32, an addition or a multiplication by itself
  double f32_products = 0;          // matrix products of f32
  double bf16_products = 0;         // of bf16 with sums in f32
  double i8_products = 0;           // of bytes with sums in i32
  double launch_seconds = 0;        // to start a kernel on one thread
  double barrier_seconds = 0;       // to start shares on all threads and wait for them
  uint64_t l1 = 0, l2 = 0, l3 = 0;  // bytes of one instance
  double others = 0;                // cores that other programs took while this was measured

  double read_bytes(int of_threads) const;
  double copy_bytes(int of_threads) const;
  bool operator==(const Peaks&) const = default;
};

// "measured 2026-11-17: on 2 threads reads 23.9 and copies 21.5 GB/s, computes 153 GF/s …"
std::string text(const Peaks& peaks);

// As JSON, and back. UserError names the field that is missing or can't be; `source` names the
// text in messages.
std::string to_json(const Peaks& peaks);
Peaks from_json(const std::string& json, const std::string& source);

// What is assumed where nothing was measured, for an instruction set ("amx", "avx512", "avx2",
// "sse2") and a number of threads.
Peaks default_peaks(std::string_view instruction_set, int threads);
// The best instruction set of this processor, by those names.
std::string_view instruction_set_here();

// What is left of them when kernels use no more than `instruction_set`: the share that the defaults
// have.
Peaks limited_to(Peaks peaks, std::string_view instruction_set);

// Those of a file (`given`), else those measured before, else the defaults of this processor.
// UserError where a given file can't be read.
Peaks peaks_of_this_machine(const std::filesystem::path& given = {});

}  // namespace luminal::machine
