// Shared by contestants of our own: inputs from files, timed runs, results to files.
#pragma once

#include <chrono>
#include <ctime>
#include <fstream>
#include <span>
#include <string>

#include "luminal/luminal.h"

namespace luminal::bench {

// Reads a tensor's bytes from a file.
inline TensorData read_bytes(const std::string& path, DType dtype, std::vector<int64_t> dims) {
  TensorData::Writable data = TensorData::zeros(dtype, std::move(dims));
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(data.bytes.data()),
            static_cast<std::streamsize>(data.bytes.size()));
  if (!file) throw UserError("bench: can't read " + path);
  return data.data;
}

// Sets every leaf from FOLDER/name.
inline void set_leaves(Executable& exe, Graph& graph, const std::string& folder) {
  for (NodeId leaf : graph.leaves()) {
    const Tensor tensor = graph.tensor(leaf);
    std::vector<int64_t> dims;
    for (Expr dim : tensor.dims()) dims.push_back(*dim.to_int());
    const std::string path = folder + "/" + graph.node(leaf).as<InputAttr>().name;
    exe.set(tensor, read_bytes(path, tensor.dtype(), dims));
  }
}

inline double wall_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}
inline double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Seconds of one call.
template <typename Run>
double timed(const Run& run, double (*clock)() = wall_seconds) {
  const double start = clock();
  run();
  return clock() - start;
}

inline void write_bytes(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw UserError("bench: can't write " + path);
}

}  // namespace luminal::bench
