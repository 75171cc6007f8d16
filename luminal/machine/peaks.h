// Peaks: peak rates of a machine, per second. This is the roofline used everywhere: by the cost
// model, explain, traces, benchmarks, --stats and the search's stopping criterion.
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

// Bandwidth of DRAM (beyond the caches) in bytes per second, all threads together. A copy counts
// both its reads and its writes.
struct Bandwidth {
  int threads = 1;
  double read = 0;
  double copy = 0;

  bool operator==(const Bandwidth&) const = default;
};

enum class PeaksOrigin : uint8_t {
  Default,   // assumed for the instruction set, not measured
  Measured,  // on this machine
  Given,     // by a file
};

struct Peaks {
  PeaksOrigin origin = PeaksOrigin::Default;
  std::string source;             // the instruction set, the day, or the file
  std::string processor;          // its name
  int threads = 1;                // that the rates below apply to
  std::vector<Bandwidth> memory;  // by the number of threads, ascending
  // Operations per second on all threads. A multiply-add counts as two.
  double elementwise = 0;           // f32 additions or multiplications, not fused
  double f32_products = 0;          // matrix products of f32
  double bf16_products = 0;         // of bf16 with accumulators in f32
  double i8_products = 0;           // of bytes with accumulators in i32
  double launch_seconds = 0;        // to start a kernel on one thread
  double barrier_seconds = 0;       // to fork to all threads and join
  uint64_t l1 = 0, l2 = 0, l3 = 0;  // bytes of one instance
  // Bandwidth out of these caches in bytes per second, all threads together; 0: not known, as
  // memory's.
  double l2_bytes = 0, l3_bytes = 0;
  double others = 0;  // load of other programs while measuring, in cores

  double read_bytes(int of_threads) const;
  double copy_bytes(int of_threads) const;
  // The bandwidth, on all threads, of stores past the caches: what a copy takes longer than its
  // read.
  double write_bytes() const;
  // The bandwidth, on all threads, of data that is read again and again and takes `working_set`
  // bytes: that of the smallest cache which holds it, else of memory.
  double bytes_again(double working_set) const;
  bool operator==(const Peaks&) const = default;
};

// Whether a cache of so many bytes holds the data of a graph from run to run, beside what else
// needs it.
bool holds(uint64_t cache, double working_set);

// "measured 2026-11-17: on 2 threads reads 23.9 and copies 21.5 GB/s, computes 153 GF/s …"
std::string text(const Peaks& peaks);

// To and from JSON. A UserError names the field that is missing or invalid; `source` names the text
// in messages.
std::string to_json(const Peaks& peaks);
Peaks from_json(const std::string& json, const std::string& source);

// The rates assumed if nothing was measured, for an instruction set ("amx", "avx512", "avx2",
// "sse2") and a number of threads.
Peaks default_peaks(std::string_view instruction_set, int threads);
// The best instruction set of this processor, by those names.
std::string_view instruction_set_here();
// That of code for a backend's target: the target, if it has peaks of its own, else the best here.
std::string_view instruction_set_of(std::string_view target);

// The peaks when kernels use only `instruction_set`: rates are scaled by the ratio of the defaults.
Peaks limited_to(Peaks peaks, std::string_view instruction_set);

// The peaks of a file (`given`), else those measured before, else the defaults of this processor.
// UserError if a given file can't be read.
Peaks peaks_of_this_machine(const std::filesystem::path& given = {});

}  // namespace luminal::machine
