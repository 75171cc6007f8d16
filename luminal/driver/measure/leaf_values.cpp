#include "luminal/driver/measure/leaf_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/base/hash.h"
#include "luminal/shape/index/resolve_dims.h"
#include "luminal/shape/scalar.h"

namespace luminal {
namespace {

using runtime::Buffer;

constexpr int64_t kMostIndex = 100;
// The values of a leaf repeat with about this period: generating all of them would take longer than
// the search.
constexpr int64_t kPeriod = 65'521;

// A scale that keeps sums of products with it near 1: values that vanish differ only by rounding.
double size_of(Role role, const ResolvedDims& dims) {
  if (role != Role::Weight || dims.sizes.size() < 2) return 1;
  const int64_t longest = *std::ranges::max_element(dims.sizes);
  return std::sqrt(3.0 / static_cast<double>(std::max<int64_t>(longest, 3)));
}

ResolvedDims dims_of(const Graph& graph, NodeId id, const Bindings& sizes) {
  Result<ResolvedDims> dims = resolve_dims(graph.node(id).dims, sizes);
  if (!dims) throw UserError("search: " + graph.describe(id) + " has no size: " + dims.why());
  return *dims;
}

int64_t fewest_rows(const Graph& graph, const Bindings& sizes) {
  int64_t rows = kMostIndex;
  for (uint32_t id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(NodeId{id});
    if (node.removed || (node.op != Op::Gather && node.op != Op::Scatter)) continue;
    rows = std::min(rows, dims_of(graph, node.inputs[0], sizes).sizes[0]);
  }
  return std::max<int64_t>(rows, 1);
}

// The first elements of a leaf; the others repeat them.
void fill_period(DType dtype, Role role, double size, int64_t most_index, uint64_t seed,
                 int64_t count, std::byte* out) {
  uint64_t random = base::mix(seed);
  for (int64_t i = 0; i < count; ++i) {
    random = base::mix(random + 0x9e3779b97f4a7c15u);
    if (is_float(dtype)) {
      const double unit = static_cast<double>(random >> 11) * 0x1p-53;
      store_float(dtype, out, i, round_to(dtype, (2 * unit - 1) * size));
    } else {
      // Integer weights are quantised values: any integer.
      const uint64_t below = kind(dtype) == DTypeKind::Bool ? 2
                             : role == Role::Weight         ? uint64_t{1} << 32
                                                            : static_cast<uint64_t>(most_index);
      store_int(dtype, out, i, wrap_to(dtype, static_cast<int64_t>(random % below)));
    }
  }
}

Buffer random_values(const Node& node, const ResolvedDims& dims, int64_t most_index,
                     uint64_t seed) {
  const Buffer buffer = Buffer::allocate(dims.bytes(node.dtype));
  const Role role = node.as<InputAttr>().role;
  std::byte* out = buffer.writable().data();
  // An even number of elements is a whole number of bytes, of packed ones too.
  const int64_t period = std::min<int64_t>(dims.count, kPeriod - 1);
  fill_period(node.dtype, role, size_of(role, dims), most_index, seed, period, out);
  const auto first = static_cast<size_t>(byte_size(node.dtype, period));
  for (size_t at = first; at < buffer.size(); at += first) {
    std::memcpy(out + at, out, std::min(first, buffer.size() - at));
  }
  return buffer;
}

// Whether a leaf takes data that was set. A state doesn't: its first value is mostly zeros.
bool takes_data(const Graph& graph, NodeId leaf, const Graph& data, NodeId from) {
  if (!from.valid() || !data.has_data(from)) return false;
  return graph.node(leaf).as<InputAttr>().role != Role::State;
}

}  // namespace

std::vector<Buffer> leaf_values(const Graph& graph, const Bindings& sizes, const Graph& data,
                                const std::vector<NodeId>& stands_for, uint64_t seed) {
  const int64_t most_index = fewest_rows(graph, sizes);
  std::vector<Buffer> buffers;
  for (size_t i = 0; i < graph.leaves().size(); ++i) {
    const NodeId leaf = graph.leaves()[i];
    const ResolvedDims dims = dims_of(graph, leaf, sizes);
    if (takes_data(graph, leaf, data, stands_for[i])) {
      const std::optional<TensorData> given = data.data(stands_for[i]);
      if (given && given->bytes.size() == dims.bytes(graph.node(leaf).dtype)) {
        buffers.push_back(Buffer::borrow(given->bytes, given->owner));
        continue;
      }
    }
    buffers.push_back(
        random_values(graph.node(leaf), dims, most_index, base::combine(seed, leaf.value)));
  }
  return buffers;
}

uint64_t leaf_bytes(const Graph& graph, const Bindings& sizes, const Graph& data,
                    const std::vector<NodeId>& stands_for) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < graph.leaves().size(); ++i) {
    const NodeId leaf = graph.leaves()[i];
    if (takes_data(graph, leaf, data, stands_for[i])) continue;
    bytes += dims_of(graph, leaf, sizes).bytes(graph.node(leaf).dtype);
  }
  return bytes;
}

}  // namespace luminal
