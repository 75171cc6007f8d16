#include "apps/bench/kernels/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "luminal/base/errors.h"
#include "luminal/shape/scalar.h"

namespace luminal::bench {
namespace {

// Distinct values for this many elements, then repeated: no kernel's time depends on more.
constexpr int64_t kDistinct = (1 << 16) + 1;  // odd, so that rows differ
constexpr uint64_t kSeed = 20240229;

std::vector<int64_t> sizes(const Node& node) {
  std::vector<int64_t> dims;
  for (Expr dim : node.dims) dims.push_back(dim.to_int().value());
  return dims;
}

TensorData random_values(const Case& of, const Node& node, std::mt19937_64& random) {
  TensorData::Writable made = TensorData::zeros(node.dtype, sizes(node));
  const int64_t count = made.data.n_elements();
  const int64_t drawn = std::min(count, kDistinct);
  for (int64_t i = 0; i < drawn; ++i) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    if (is_float(node.dtype)) {
      const double value = of.low + unit * (of.high - of.low);
      store_float(node.dtype, made.bytes.data(), i, round_to(node.dtype, value));
    } else {
      store_int(node.dtype, made.bytes.data(), i, 1 + static_cast<int64_t>(unit * 100));
    }
  }
  // Each copy doubles the filled part.
  for (size_t have = static_cast<size_t>(byte_size(node.dtype, drawn)); have < made.bytes.size();) {
    const size_t more = std::min(have, made.bytes.size() - have);
    std::memcpy(made.bytes.data() + have, made.bytes.data(), more);
    have += more;
  }
  return made.data;
}

TensorData shuffled_rows(const Node& node, std::mt19937_64& random) {
  TensorData::Writable made = TensorData::zeros(node.dtype, sizes(node));
  std::vector<int64_t> rows(static_cast<size_t>(made.data.n_elements()));
  std::iota(rows.begin(), rows.end(), 0);
  // std::shuffle differs between standard libraries.
  for (size_t left = rows.size(); left > 1; --left) {
    std::swap(rows[left - 1], rows[random() % left]);
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    store_int(node.dtype, made.bytes.data(), static_cast<int64_t>(i), rows[i]);
  }
  return made.data;
}

}  // namespace

Inputs make_inputs(const Case& of, const Graph& graph) {
  Inputs inputs;
  std::mt19937_64 random(kSeed);
  for (NodeId leaf : graph.leaves()) {
    const Node& node = graph.node(leaf);
    const std::string& name = node.as<InputAttr>().name;
    inputs[name] = name == "index" ? shuffled_rows(node, random) : random_values(of, node, random);
  }
  return inputs;
}

void set_inputs(Executable& executable, Graph& graph, const Inputs& inputs) {
  for (NodeId leaf : graph.leaves()) {
    const std::string& name = graph.node(leaf).as<InputAttr>().name;
    const auto found = inputs.find(name);
    if (found == inputs.end()) {
      throw UserError(fmt::format("there is no data for its input '{}'", name));
    }
    executable.set(graph.tensor(leaf), found->second);
  }
}

}  // namespace luminal::bench
