// Shared by benches that a script drives: inputs from files, timed runs, results to files.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <fstream>
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

// The time of a run, formatted for scripts.
inline std::string timed_run(Executable& exe, double (*clock)() = wall_seconds) {
  const double start = clock();
  exe.run();
  return fmt::format("{:.9f} ", clock() - start);
}

// Returns "ok" or "failed".
inline std::string write_result(const Executable& exe, const Tensor& result,
                                const std::string& path) {
  const TensorData data = exe.get_data(result);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(data.bytes.data()),
             static_cast<std::streamsize>(data.bytes.size()));
  return file.flush() ? "ok" : "failed";
}

}  // namespace luminal::bench
