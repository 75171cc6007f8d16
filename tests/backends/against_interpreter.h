// A graph on the cpu beside the interpreter in f64: the same random leaves, run after run on the
// same executables.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "luminal/graph/primitives.h"
#include "luminal/luminal.h"

namespace luminal {

struct Comparison {
  Graph& graph;
  std::vector<Tensor> results;
  CompileOptions options = {};
  std::map<std::string, int64_t> below = {};  // integer leaves by name: in [0, below)
  double relative = 2e-5;

  CompileReport report = {};

  void run(const std::vector<Bindings>& runs) {
    options.storage.cache_folder = "none";
    options.report = &report;
    Executable cpu = compile(graph, options);
    Executable exact = compile(graph, {.backend = {.name = "interp", .float64 = true}});
    std::mt19937 random(7);
    for (const Bindings& bindings : runs) {
      for (NodeId leaf : graph.leaves()) {
        const TensorData data = random_leaf(leaf, bindings, random);
        cpu.set(graph.tensor(leaf), data);
        exact.set(graph.tensor(leaf), data);
      }
      cpu.run(bindings);
      exact.run(bindings);
      for (const Tensor& result : results) compare(cpu, exact, result);
    }
  }

 private:
  TensorData random_leaf(NodeId id, const Bindings& bindings, std::mt19937& random) const {
    const Node& node = graph.node(id);
    std::vector<int64_t> dims;
    int64_t count = 1;
    for (Expr dim : node.dims) {
      dims.push_back(dim.evaluate(bindings).value.value());
      count *= dims.back();
    }
    std::normal_distribution<float> normal;
    const auto limit = below.find(node.as<InputAttr>().name);
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) {
      value = normal(random);
      if (limit != below.end()) {
        value = static_cast<float>(random() % static_cast<uint64_t>(limit->second));
      } else if (node.dtype == DType::Bool) {
        value = value > 0 ? 1.0f : 0.0f;
      } else if (!is_float(node.dtype)) {
        value =
            static_cast<float>(static_cast<int>(random() % 7)) - (node.dtype == DType::U8 ? 0 : 3);
      }
    }
    TensorData::Writable data = TensorData::zeros(DType::F32, dims);
    if (count > 0) std::memcpy(data.bytes.data(), values.data(), values.size() * sizeof(float));
    return data.data.cast(node.dtype);
  }

  void compare(Executable& cpu, Executable& exact, const Tensor& result) const {
    const std::vector<double> got = cpu.get<double>(result);
    const std::vector<double> wanted = exact.get<double>(result);
    ASSERT_EQ(got.size(), wanted.size());
    const double once = result.dtype() == DType::BF16  ? 0x1p-7
                        : result.dtype() == DType::F16 ? 0x1p-10
                                                       : relative;
    const double allowed = is_float(result.dtype()) ? once : 0;
    for (size_t i = 0; i < got.size(); ++i) {
      if (got[i] == wanted[i]) continue;
      ASSERT_NEAR(got[i], wanted[i], allowed * (std::abs(wanted[i]) + 1)) << "element " << i;
    }
  }
};

// The bytes of a result with 1 and with 2 threads, which must be the same.
inline void expect_same_bits(Graph& graph, const Tensor& result, int64_t rows_below = 0) {
  std::vector<std::vector<std::byte>> bytes;
  for (int threads : {1, 2}) {
    Executable exe =
        compile(graph, {.backend = {.threads = threads}, .storage = {.cache_folder = "none"}});
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    for (NodeId leaf : graph.leaves()) {
      const Node& node = graph.node(leaf);
      int64_t count = n_elements(node.dims).to_int().value();
      if (is_float(node.dtype)) {
        std::vector<float> values(static_cast<size_t>(count));
        for (float& value : values) value = normal(random);
        exe.set(graph.tensor(leaf), values);
      } else {
        std::vector<int64_t> values(static_cast<size_t>(count));
        for (int64_t& value : values) value = static_cast<int64_t>(random()) % rows_below;
        exe.set(graph.tensor(leaf), values);
      }
    }
    exe.run();
    const TensorData data = exe.get_data(result);
    bytes.emplace_back(data.bytes.begin(), data.bytes.end());
  }
  EXPECT_EQ(bytes[0], bytes[1]);
}

}  // namespace luminal
