// The handle itself: inspection, data, names, outputs and probes. Views are in tensor_views.cpp.
#include "luminal/graph/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "luminal/base/errors.h"

namespace luminal {
namespace {

// The constant dims that `count` elements fill: the declared ones with at most one unknown solved.
std::vector<int64_t> solve_dims(const Tensor& tensor, int64_t count) {
  std::vector<int64_t> dims;
  int64_t known = 1;
  int unknown = -1;
  for (size_t i = 0; i < tensor.dims().size(); ++i) {
    std::optional<int64_t> dim = tensor.dims()[i].to_int();
    dims.push_back(dim.value_or(-1));
    if (dim) {
      known *= *dim;
    } else if (unknown < 0) {
      unknown = static_cast<int>(i);
    } else {
      throw UserError(
          fmt::format("set {}: {} has more than one symbolic dim; give the data as "
                      "TensorData with its dims",
                      tensor.describe(), text(tensor.dims())));
    }
  }
  if (unknown >= 0) {
    if (known == 0 || count % known != 0) {
      throw UserError(fmt::format("set {}: {} elements don't fill {}; give a multiple of {}",
                                  tensor.describe(), count, text(tensor.dims()), known));
    }
    dims[static_cast<size_t>(unknown)] = count / known;
  } else if (known != count) {
    throw UserError(fmt::format("set {}: {} elements given, {} has {}; give all of them",
                                tensor.describe(), count, text(tensor.dims()), known));
  }
  return dims;
}

}  // namespace

Graph& Tensor::graph() const {
  if (home_ == nullptr) {
    throw UserError("an empty Tensor was used; assign it the result of an op or a leaf first");
  }
  if (home_->graph == nullptr) {
    throw UserError(
        "a Tensor was used after its Graph is gone; keep the Graph as long as its tensors");
  }
  return *home_->graph;
}

const Node& Tensor::node() const { return graph().node(id_); }
DType Tensor::dtype() const { return node().dtype; }
const Dims& Tensor::dims() const { return node().dims; }
int Tensor::rank() const { return static_cast<int>(dims().size()); }
Expr Tensor::n_elements() const { return luminal::n_elements(dims()); }
std::string Tensor::describe() const { return graph().describe(id_); }

Expr Tensor::dim(int axis) const {
  const int at = axis < 0 ? axis + rank() : axis;
  if (at < 0 || at >= rank()) {
    throw UserError(fmt::format("dim: axis {} is out of range for {} {}; use {} … {}", axis,
                                describe(), text(dims()), -rank(), rank() - 1));
  }
  return dims()[static_cast<size_t>(at)];
}

Tensor Tensor::set(TensorData data) const {
  const Node& n = node();
  if (n.op != Op::Input) {
    throw UserError(
        fmt::format("set {}: it is computed; set the inputs, weights and states that it depends on",
                    describe()));
  }
  bool fits = data.dims.size() == n.dims.size();
  for (size_t i = 0; fits && i < data.dims.size(); ++i) {
    std::optional<int64_t> wanted = n.dims[i].to_int();
    fits = !wanted || *wanted == data.dims[i];
  }
  if (!fits) {
    throw UserError(fmt::format("set {}: it is {}, the data is [{}]; reshape one of them",
                                describe(), text(n.dims), fmt::join(data.dims, ", ")));
  }
  if (data.dtype != n.dtype) {
    throw UserError(fmt::format("set {}: it is {}, the data is {}; cast the data or declare the {}",
                                describe(), luminal::name(n.dtype), luminal::name(data.dtype),
                                luminal::name(data.dtype)));
  }
  graph().data_.insert_or_assign(id_, std::move(data));
  return *this;
}

Tensor Tensor::set(DataLoader loader) const {
  if (node().op != Op::Input) {
    throw UserError(
        fmt::format("set {}: it is computed; set the inputs, weights and states that it depends on",
                    describe()));
  }
  graph().data_.insert_or_assign(id_, std::move(loader));
  return *this;
}

Tensor Tensor::set(const NestedList& values) const { return set(values.data(dtype())); }
Tensor Tensor::set(std::initializer_list<NestedList> values) const {
  return set(NestedList(values));
}

Tensor Tensor::set_bytes(DType dtype, std::span<const std::byte> bytes) const {
  const auto count = static_cast<int64_t>(bytes.size()) / byte_size(dtype, 1);
  TensorData data = TensorData::copy_bytes(dtype, bytes, solve_dims(*this, count));
  // The 16-bit floats have no C++ type of their own, so they take f32 and round.
  const bool rounds = dtype == DType::F32 && is_half(this->dtype());
  return set(rounds ? data.cast(this->dtype()) : std::move(data));
}

Tensor Tensor::name(std::string_view label) const {
  graph().nodes_[id_.index()].label = label;
  return *this;
}

Tensor Tensor::output(std::string_view name) const {
  if (name.empty()) throw UserError("output: the name is empty; name it, or use keep()");
  for (const Output& output : graph().outputs_) {
    if (output.name == name) {
      throw UserError(fmt::format(
          "output: the graph already has an output named '{}'; choose another name", name));
    }
  }
  // A state's own slot holds its value after the run; the output is what nodes see, so it is one.
  Tensor seen = *this;
  const Node& node = graph().node(id_);
  if (node.op == Op::Input && node.as<InputAttr>().role == Role::State) {
    seen = graph().add({.op = Op::View,
                        .dtype = node.dtype,
                        .dims = {},
                        .inputs = {id_},
                        .attribute = IndexMap::identity(node.dims),
                        .label = {}});
  }
  graph().outputs_.push_back({seen.id(), std::string(name)});
  return seen;
}

Tensor Tensor::materialize() const {
  graph().nodes_[id_.index()].materialized = true;
  return *this;
}

Tensor Tensor::keep() const {
  const auto& outputs = graph().outputs_;
  bool kept = std::any_of(outputs.begin(), outputs.end(), [&](const Output& output) {
    return output.node == id_ && output.name.empty();
  });
  if (!kept) graph().outputs_.push_back({id_, {}});
  return *this;
}

void Tensor::drop() const {
  std::erase_if(graph().outputs_, [&](const Output& output) { return output.node == id_; });
}

Tensor Tensor::print(std::string_view label) const {
  graph().probes_.push_back({.kind = Probe::Kind::Print, .node = id_, .label = std::string(label)});
  return *this;
}

Tensor Tensor::diff(std::string_view path, double atol, double rtol) const {
  graph().probes_.push_back({.kind = Probe::Kind::Diff,
                             .node = id_,
                             .label = std::string(path),
                             .atol = atol,
                             .rtol = rtol});
  return *this;
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  if (!tensor.valid()) return out << "(an empty tensor)";
  return out << tensor.describe() << ' ' << tensor.dtype() << tensor.dims();
}

}  // namespace luminal
