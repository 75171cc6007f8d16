#include "tests/contractions/contraction_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "luminal/shape/scalar.h"
#include "tests/contractions/contraction_graph.h"
#include "tests/support/bounded_values.h"
#include "tests/support/random_source.h"

namespace luminal::tests {
namespace {

// More products than this take the interpreter too long.
constexpr int64_t kMostProducts = 150'000;

using Indices = std::vector<int64_t>;

Indices all_of(int64_t size) {
  Indices all(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i) all[static_cast<size_t>(i)] = i;
  return all;
}

// The ends, both sides of some edges of tiles, and eight at random: eight rows by eight columns.
Indices sample(int64_t size, RandomSource& random) {
  if (size <= 18) return all_of(size);
  static constexpr int64_t kTiles[] = {13, 14, 16, 32, 48, 64};
  std::set<int64_t> chosen = {0, size - 1};
  for (int64_t tile : kTiles) {
    const int64_t edge = tile * random.between(1, std::max<int64_t>(1, (size - 1) / tile));
    for (int64_t at : {edge - 1, edge}) {
      if (at < size && random.chance(0.5)) chosen.insert(at);
    }
  }
  while (chosen.size() < 16) chosen.insert(random.below(size));
  return {chosen.begin(), chosen.end()};
}

struct Sample {
  Indices rows, columns;
};

// The elements of a tensor that a sample of its axes holds.
TensorData part_of(const TensorData& data, const Axes& axes, const Sample& sample) {
  std::vector<Indices> chosen;
  std::vector<int64_t> dims;
  for (size_t d = 0; d < axes.size(); ++d) {
    const AxisOfDim& dim = axes[d];
    const int64_t size = data.dims[d] - dim.before - dim.after;
    const Indices own = dim.axis == Axis::Rows      ? sample.rows
                        : dim.axis == Axis::Columns ? sample.columns
                                                    : all_of(size);
    Indices indices = all_of(dim.before);
    for (size_t i = 0; i < own.size(); ++i) {
      indices.push_back(dim.before + (dim.flipped ? size - 1 - own[own.size() - 1 - i] : own[i]));
    }
    for (int64_t i = 0; i < dim.after; ++i) indices.push_back(dim.before + size + i);
    dims.push_back(static_cast<int64_t>(indices.size()));
    chosen.push_back(std::move(indices));
  }
  TensorData::Writable part = TensorData::zeros(data.dtype, dims);
  const int64_t count = part.data.n_elements();
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, from = 0, stride = 1;
    for (size_t d = axes.size(); d-- > 0;) {
      from += chosen[d][static_cast<size_t>(rest % dims[d])] * stride;
      rest /= dims[d];
      stride *= data.dims[d];
    }
    if (is_float(data.dtype)) {
      store_float(data.dtype, part.bytes.data(), i,
                  load_float(data.dtype, data.bytes.data(), from));
    } else {
      store_int(data.dtype, part.bytes.data(), i, load_int(data.dtype, data.bytes.data(), from));
    }
  }
  return part.data;
}

// Values of one style per tensor. Subnormals stay out: some products of bf16 take them for zeros.
TensorData random_elements(DType dtype, const std::vector<int64_t>& dims, RandomSource& random,
                           bool finite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  TensorData::Writable made = TensorData::zeros(dtype, dims);
  const int64_t style = random.below(5);
  const bool special = random.chance(0.03) && !finite;
  for (int64_t i = 0; i < made.data.n_elements(); ++i) {
    if (!is_float(dtype)) {
      const int64_t value = dtype == DType::U4   ? random.below(16)
                            : dtype == DType::U8 ? random.below(64)
                                                 : random.between(-20, 20);
      store_int(dtype, made.bytes.data(), i, value);
      continue;
    }
    double value = 4 * random.uniform() - 2;
    if (style == 0) value = static_cast<double>(random.between(-4, 4));
    if (style == 1) value = std::fabs(value) + 0.25;
    if (style == 2) value *= 0.0625;
    if (special && random.chance(0.01)) value = random.chance(0.5) ? kInfinity : -kInfinity;
    if (special && random.chance(0.005)) value = std::numeric_limits<double>::quiet_NaN();
    store_float(dtype, made.bytes.data(), i, round_to(dtype, value));
  }
  return made.data;
}

class Judge {
 public:
  Judge(const ContractionCase& one, LibraryPolicy library)
      : one_(one),
        library_(library),
        random_(one.seed * 0x9e3779b97f4a7c15),
        tested_(contraction_graph(one, extents_of(one))),
        sampled_(one.dynamic == Dynamic::None && one.n_products() > kMostProducts),
        executable_(build(one.threads, &report_)) {
    if (one.threads > 1 && n_by_library() == 0) one_thread_.emplace(build(1, nullptr));
    if (!sampled_) return;
    // Columns that share a dim with something else can't be told apart in it.
    const bool merged = one.batch == Batch::MergedHeads || one.window.groups > 1;
    sample_.rows = sample(one.rows, random_);
    sample_.columns = merged ? all_of(one.columns) : sample(one.columns, random_);
    small_ = contraction_graph(one, {.rows = static_cast<int64_t>(sample_.rows.size()),
                                     .columns = static_cast<int64_t>(sample_.columns.size()),
                                     .depth = one.depth});
  }

  ContractionVerdict run() {
    ContractionVerdict verdict{.sampled = sampled_,
                               .kernels = report_.kernels.size() - report_.n_packing(),
                               .in_panels = report_.n_packing(),
                               .by_library = n_by_library()};
    for (int k = 0; k < one_.n_runs && !verdict.failure; ++k) run(k, verdict);
    return verdict;
  }

 private:
  Executable build(int threads, CompileReport* report) const {
    return compile(*tested_.graph,
                   {.backend = {.target = one_.target(), .threads = threads, .library = library_},
                    .plan = {.fusion = one_.fusion},
                    .storage = {.cache_folder = "none"},
                    .report = report});
  }

  size_t n_by_library() const {
    return static_cast<size_t>(std::ranges::count_if(report_.kernels, &KernelReport::by_library));
  }

  // Weights stay as they are in the second run: what was packed is read again.
  void set_leaves(int number, const Bindings& bindings) {
    for (const ContractionGraph::Leaf& leaf : tested_.leaves) {
      const Tensor tensor = tested_.graph->tensor(leaf.node);
      const bool stays = tensor.node().as<InputAttr>().role == Role::Weight && number == 1;
      const bool dynamic = std::any_of(tensor.dims().begin(), tensor.dims().end(),
                                       [](Expr dim) { return !dim.to_int(); });
      if (stays && !dynamic) continue;
      std::vector<int64_t> dims;
      for (Expr dim : tensor.dims()) dims.push_back(dim.evaluate(bindings).value.value());
      // Where sums of integers are scaled, and where f32 is split into parts, infinity may become
      // NaN (docs/numerics.md).
      const bool is_split = one_.types.left == DType::F32 && one_.types.right == DType::BF16;
      data_[leaf.name] =
          random_elements(tensor.dtype(), dims, random_, is_split || is_quantised(one_.prologue));
      executable_.set(tensor, data_[leaf.name]);
      if (one_thread_) one_thread_->set(tensor, data_[leaf.name]);
    }
  }

  std::vector<BoundedTensor> wanted(const Bindings& bindings) {
    const ContractionGraph& from = sampled_ ? small_ : tested_;
    std::vector<NodeId> values;
    for (const auto& result : from.results) values.push_back(result.value);
    std::map<NodeId, TensorData> given;
    for (size_t k = 0; k < from.leaves.size(); ++k) {
      const TensorData& data = data_.at(from.leaves[k].name);
      given[from.leaves[k].node] = sampled_ ? part_of(data, tested_.leaves[k].axes, sample_) : data;
    }
    return bounded_values(*from.graph, bindings, [&](NodeId id) { return given.at(id); }, values);
  }

  void run(int number, ContractionVerdict& verdict) {
    Bindings bindings;
    if (one_.dynamic != Dynamic::None) {
      bindings.set(kDynamicSize, one_.run_sizes[static_cast<size_t>(number)]);
    }
    set_leaves(number, bindings);
    const std::vector<BoundedTensor> bounds = wanted(bindings);
    executable_.run(bindings);
    if (one_thread_) one_thread_->run(bindings);
    for (size_t i = 0; i < bounds.size() && !verdict.failure; ++i) {
      const Tensor read = tested_.graph->tensor(tested_.results[i].read);
      verdict.failure = compare(read, tested_.results[i].axes, bounds[i]);
      if (verdict.failure) {
        const std::string size = one_.dynamic == Dynamic::None
                                     ? ""
                                     : fmt::format(" at {}", bindings.find(kDynamicSize).value());
        *verdict.failure =
            fmt::format("run {}{}: {}: {}", number, size, read.describe(), *verdict.failure);
      }
      verdict.elements += bounds[i].size();
      verdict.unknown += bounds[i].unknown();
    }
  }

  std::optional<std::string> compare(const Tensor& read, const Axes& axes,
                                     const BoundedTensor& bound) const {
    const TensorData got = executable_.get_data(read);
    if (auto wrong = outside(bound, sampled_ ? part_of(got, axes, sample_) : got)) return wrong;
    if (!one_thread_) return std::nullopt;
    const TensorData same = one_thread_->get_data(read);
    if (!got.bytes.empty() &&
        std::memcmp(same.bytes.data(), got.bytes.data(), got.bytes.size()) != 0) {
      return fmt::format("other bits with {} threads than with one", one_.threads);
    }
    return std::nullopt;
  }

  const ContractionCase& one_;
  const LibraryPolicy library_;
  RandomSource random_;
  const ContractionGraph tested_;
  const bool sampled_;
  CompileReport report_;
  Executable executable_;
  std::optional<Executable> one_thread_;
  Sample sample_;
  ContractionGraph small_;
  std::map<std::string, TensorData> data_;
};

}  // namespace

ContractionVerdict judge(const ContractionCase& one, LibraryPolicy library) {
  try {
    return Judge(one, library).run();
  } catch (const std::exception& error) {
    return {.failure = fmt::format("threw: {}", error.what())};
  }
}

}  // namespace luminal::tests
