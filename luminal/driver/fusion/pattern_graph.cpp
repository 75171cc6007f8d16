#include "luminal/driver/fusion/pattern_graph.h"

#include <cmath>
#include <random>

#include "luminal/graph/composite/activation.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/matmul.h"
#include "luminal/graph/composite/norm.h"
#include "luminal/shape/scalar.h"

namespace luminal {

PatternGraph::PatternGraph(FusionPattern pattern, const FusionShape& shape, uint64_t seed)
    : shape_(shape), seed_(seed), graph_(std::make_unique<Graph>()) {
  const Tensor x = rows("x");
  switch (pattern) {
    case FusionPattern::SwiGlu: {
      const Tensor gate = projected("gate", x, shape.intermediate);
      const Tensor up = projected("up", x, shape.intermediate);
      results_ = {projected("down", silu(gate) * up, shape.hidden).output("y")};
      break;
    }
    case FusionPattern::AddRmsNorm: {
      const Tensor sum = (x + projected("before", rows("z"), shape.hidden)).output("sum");
      const Tensor weight = leaf(Role::Weight, "weight", {shape.hidden}, 1, 0.5);
      const Tensor normalised = rms_norm(sum, {shape.hidden}, weight, 1e-5);
      results_ = {sum, projected("after", normalised, shape.intermediate).output("y")};
      break;
    }
  }
}

Tensor PatternGraph::leaf(Role role, const char* name, std::vector<int64_t> dims, double middle,
                          double spread) {
  const Dims exprs(dims.begin(), dims.end());
  const Tensor tensor = role == Role::Input ? graph_->input(name, exprs, shape_.dtype)
                                            : graph_->weight(name, exprs, shape_.dtype);
  TensorData::Writable data = TensorData::zeros(shape_.dtype, std::move(dims));
  std::mt19937_64 random(seed_ * 1'000'003 + tensor.id().value);
  const int64_t count = data.data.n_elements();
  for (int64_t i = 0; i < count; ++i) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-52 - 1;
    store_float(shape_.dtype, data.bytes.data(), i, round_to(shape_.dtype, middle + spread * unit));
  }
  data_.emplace_back(tensor, data.data);
  return tensor;
}

Tensor PatternGraph::rows(const char* name) {
  return leaf(Role::Input, name, {shape_.tokens, shape_.hidden}, 0, std::sqrt(3.0));
}

// Sums of `from` products then have a variance of about 1.
Tensor PatternGraph::matrix(const char* name, int64_t from, int64_t to) {
  return leaf(Role::Weight, name, {to, from}, 0, std::sqrt(3.0 / static_cast<double>(from)));
}

Tensor PatternGraph::projected(const char* name, const Tensor& x, int64_t to) {
  return matmul(x, matrix(name, *x.dim(-1).to_int(), to).t());
}

void PatternGraph::set_leaves(Executable& executable) const {
  for (const auto& [tensor, data] : data_) executable.set(tensor, data);
}

}  // namespace luminal
