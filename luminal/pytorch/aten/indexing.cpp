// Operators that read or write elements by index.
#include "luminal/graph/composite/indexing.h"

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/pytorch/aten/op_table.h"
#include "luminal/pytorch/aten/promotion.h"

namespace luminal::pytorch {
namespace {

Values embedded(const Arguments& of) { return {embedding(of.tensor(0), of.tensor(1))}; }

Values gathered(const Arguments& of) {
  return {gather(of.tensor(0), of.integer(1), of.tensor(2).cast(DType::I64))};
}

Values indices_selected(const Arguments& of) {
  const Tensor x = of.tensor(0), index = of.tensor(2).flatten();
  if (x.rank() > 0) return {index_select(x, of.integer(1), index)};
  return {index_select(x.reshape({1}), 0, index).reshape({})};
}

Values scattered(const Arguments& of) {
  const Tensor x = of.tensor(0);
  if (of.is_tensor(3)) {
    return {scatter(x, of.integer(1), of.tensor(2), of.tensor(3).cast(x.dtype()))};
  }
  return {scatter(x, of.integer(1), of.tensor(2), of.scalar(3))};
}

Values added_at(const Arguments& of) {
  return {scatter_add(of.tensor(0), of.integer(1), of.tensor(2), of.tensor(3))};
}

Values filled(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const Tensor mask = of.tensor(1);
  if (!of.is_tensor(2)) return {where(mask, of.scalar(2), x).cast(x.dtype())};
  return {where(mask, of.tensor(2).cast(x.dtype()), x)};
}

// The indices of x[…]: by axis, none where the axis is taken whole.
struct Indexed {
  std::vector<int> axes;        // those that are indexed
  std::vector<Tensor> indices;  // of them, broadcast to the same dims, all inside of their dim
  Dims dims;                    // of those
  std::vector<int> others;      // the axes that are taken whole
  bool adjacent = true;         // results take the place of the first; else they come first
};

Indexed indexed_axes(const Tensor& x, const Value::List& items) {
  Indexed found;
  for (size_t i = 0; i < static_cast<size_t>(x.rank()); ++i) {
    const int axis = static_cast<int>(i);
    const auto* index = i < items.size() ? std::get_if<Tensor>(&items[i].value) : nullptr;
    if (index == nullptr) {
      found.others.push_back(axis);
      continue;
    }
    if (index->dtype() == DType::Bool) {
      throw UserError(
          "it takes the elements where a mask is true, whose number only a run knows; "
          "use torch.where");
    }
    const Tensor at = index->cast(DType::I64);
    found.indices.push_back(where(at < 0, at + Scalar(x.dim(axis)), at));
    found.dims = found.axes.empty() ? at.dims() : broadcast_dims(found.dims, at.dims());
    found.adjacent = found.adjacent && (found.axes.empty() || found.axes.back() == axis - 1);
    found.axes.push_back(axis);
  }
  for (Tensor& index : found.indices) index = index.expand(found.dims);
  return found;
}

// The indexed axes as one, first: [rows, others…], and the row of each index.
struct Rows {
  Tensor data;
  Tensor row;
};

Rows rows_of(const Tensor& x, const Indexed& by) {
  std::vector<int> order = by.axes;
  order.insert(order.end(), by.others.begin(), by.others.end());
  Tensor data = x.permute(order);
  if (by.axes.size() > 1) data = data.merge_dims(0, static_cast<int>(by.axes.size()));
  Tensor row = by.indices[0];
  for (size_t i = 1; i < by.axes.size(); ++i) {
    row = row * Scalar(x.dim(by.axes[i])) + by.indices[i];
  }
  return {data, row};
}

// [index dims…, others…] with the index dims where PyTorch has them.
Tensor placed(const Tensor& found, const Indexed& by) {
  if (!by.adjacent || by.axes.empty() || by.axes[0] == 0) return found;
  const int n = static_cast<int>(by.dims.size()), before = by.axes[0];
  std::vector<int> order;
  for (int i = 0; i < before; ++i) order.push_back(n + i);
  for (int i = 0; i < n; ++i) order.push_back(i);
  for (int i = n + before; i < found.rank(); ++i) order.push_back(i);
  return found.permute(order);
}

Values by_indices(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const Indexed by = indexed_axes(x, of.list(1));
  if (by.axes.empty()) return {x};
  const Rows rows = rows_of(x, by);
  Tensor found = index_select(rows.data, 0, rows.row.flatten());
  Dims dims = by.dims;
  for (int axis : by.others) dims.push_back(x.dim(axis));
  return {placed(found.reshape(dims), by)};
}

// One value where a mask over the first axes is true.
std::optional<Tensor> put_at_mask(const Tensor& x, const Value::List& items, Tensor value) {
  if (items.size() != 1 || !value.n_elements().is(1)) return std::nullopt;
  const auto* mask = std::get_if<Tensor>(&items[0].value);
  if (mask == nullptr || mask->dtype() != DType::Bool || mask->rank() > x.rank()) {
    return std::nullopt;
  }
  Tensor held = *mask;
  while (held.rank() < x.rank()) held = held.unsqueeze(-1);
  return where(held, value.reshape({}).cast(x.dtype()), x);
}

Values put_at_indices(const Arguments& of) {
  const Tensor x = of.tensor(0);
  if (!of.flag(3)) {
    if (const auto result = put_at_mask(x, of.list(1), of.tensor(2))) return {*result};
  }
  const Indexed by = indexed_axes(x, of.list(1));
  if (by.axes.empty()) throw UserError("it has no index");
  const Rows rows = rows_of(x, by);
  // What is written has the dims of the result of reading; broadcast, then [index…, others…].
  Dims dims = by.dims;
  for (int axis : by.others) dims.push_back(x.dim(axis));
  Tensor values = of.tensor(2).cast(x.dtype());
  if (by.adjacent && by.axes[0] > 0) {
    const int before = by.axes[0], n = static_cast<int>(by.dims.size());
    Dims written;
    for (int i = 0; i < before; ++i) written.push_back(x.dim(i));
    written.insert(written.end(), by.dims.begin(), by.dims.end());
    for (int i = by.axes.back() + 1; i < x.rank(); ++i) written.push_back(x.dim(i));
    std::vector<int> order;
    for (int i = 0; i < n; ++i) order.push_back(before + i);
    for (int i = 0; i < before; ++i) order.push_back(i);
    for (int i = before + n; i < static_cast<int>(written.size()); ++i) order.push_back(i);
    values = values.expand(written).permute(order);
  } else {
    values = values.expand(dims);
  }
  const Tensor row = rows.row.flatten();
  Dims flat{row.dim(0)};
  for (int axis : by.others) flat.push_back(x.dim(axis));
  Tensor written = index_put(rows.data, row, values.reshape(flat), {.accumulate = of.flag(3)});
  // Back to the dims and the order of x.
  Dims grouped;
  std::vector<int> order = by.axes;
  order.insert(order.end(), by.others.begin(), by.others.end());
  for (int axis : order) grouped.push_back(x.dim(axis));
  std::vector<int> back(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    back[static_cast<size_t>(order[i])] = static_cast<int>(i);
  return {written.reshape(grouped).permute(back)};
}

constexpr OpEntry kIndexingOps[] = {
    {"aten.embedding.default",
     "weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False", embedded},
    {"aten.gather.default", "self, dim, index, sparse_grad=False", gathered},
    {"aten.index_select.default", "self, dim, index", indices_selected},
    {"aten.index.Tensor", "self, indices", by_indices},
    {"aten.index_put.default", "self, indices, values, accumulate=False", put_at_indices},
    {"aten.scatter.src", "self, dim, index, src", scattered},
    {"aten.scatter.value", "self, dim, index, value", scattered},
    {"aten.scatter_add.default", "self, dim, index, src", added_at},
    {"aten.masked_fill.Scalar", "self, mask, value", filled},
    {"aten.masked_fill.Tensor", "self, mask, value", filled},
    {"aten.one_hot.default", "self, num_classes",
     [](const Arguments& of) -> Values { return {one_hot(of.tensor(0), of.size(1))}; }},
};

}  // namespace

std::span<const OpEntry> indexing_ops() { return kIndexingOps; }

}  // namespace luminal::pytorch
