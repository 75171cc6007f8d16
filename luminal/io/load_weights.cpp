#include "luminal/io/load_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "luminal/base/errors.h"
#include "luminal/graph/tensor.h"
#include "luminal/io/quote.h"

namespace luminal {
namespace {

using io::quote;

constexpr size_t kMaxListed = 10;  // problems in a message
// Single-character comparisons per missing name: enough for 10,000 names of 70 characters, and a
// bound on what a hostile file can cost.
constexpr size_t kMaxCompared = 50'000'000;

struct Binding {
  Tensor weight;
  std::string name;
  const TensorInfo* info;
};

// The number of single-character edits between two names.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

// Whether `whole` is "something.part".
bool is_suffix(std::string_view part, std::string_view whole) {
  return whole.size() > part.size() && whole.ends_with(part) &&
         whole[whole.size() - part.size() - 1] == '.';
}

// Up to three names of the file that may have been meant: those that differ by a prefix, else those
// within a third of the name's length in edits.
std::vector<std::string> near_names(std::string_view wanted, const SafeTensors& source) {
  std::vector<std::pair<size_t, std::string_view>> ranked;
  size_t budget = kMaxCompared;
  for (const TensorInfo& info : source.tensors()) {
    std::string_view candidate = info.name;
    size_t cost = wanted.size() * candidate.size();
    size_t distance = wanted.size();
    if (is_suffix(wanted, candidate) || is_suffix(candidate, wanted)) {
      distance = 0;
    } else if (cost <= budget) {
      budget -= cost;
      distance = edit_distance(wanted, candidate);
    }
    if (distance * 3 <= wanted.size()) ranked.emplace_back(distance, candidate);
  }
  std::sort(ranked.begin(), ranked.end());
  ranked.resize(std::min<size_t>(ranked.size(), 3));
  std::vector<std::string> names;
  for (const auto& [distance, name] : ranked) names.push_back(quote(name));
  return names;
}

bool dims_match(const Dims& wanted, const std::vector<int64_t>& found) {
  return std::equal(wanted.begin(), wanted.end(), found.begin(), found.end(),
                    [](Expr dim, int64_t size) {
                      if (auto value = dim.to_int()) return *value == size;
                      return dim.lower_bound() <= size && size <= dim.upper_bound();
                    });
}

bool can_cast(DType from, DType to) {
  if (from == to) return true;
  if (kind(from) == DTypeKind::Packed || kind(to) == DTypeKind::Packed) return false;
  if (is_float(to)) return true;
  if (is_float(from) || kind(to) == DTypeKind::Bool) return false;
  return kind(from) == DTypeKind::Bool || promote(from, to) == to;
}

// Collects what is wrong with each weight, so that one message says it all.
class Problems {
 public:
  void add(std::string problem) {
    if (++count_ <= kMaxListed) lines_ += "\n  " + std::move(problem);
  }
  bool room() const { return count_ < kMaxListed; }
  size_t count() const { return count_; }

  [[noreturn]] void fail(const std::string& file, size_t n_weights) const {
    std::string rest =
        count_ > kMaxListed ? fmt::format("\n  and {} more", count_ - kMaxListed) : "";
    throw UserError(fmt::format("load_weights: {} doesn't fit {} of the graph's {} weights:{}{}",
                                quote(file), count_, n_weights, lines_, rest));
  }

 private:
  size_t count_ = 0;
  std::string lines_;
};

std::string missing(const std::string& name, const Tensor& weight, const SafeTensors& source,
                    bool look_for_near) {
  std::string line = fmt::format("{} {} is missing", quote(name), text(weight.dims()));
  std::vector<std::string> near;
  if (look_for_near) near = near_names(name, source);
  if (!near.empty()) line += fmt::format("; near it: {}", fmt::join(near, ", "));
  return line;
}

// Why `info` can't be the data of `weight`; empty when it can.
std::string mismatch(const Tensor& weight, const TensorInfo& info) {
  if (!dims_match(weight.dims(), info.dims)) {
    return fmt::format("{} is {} in the graph and [{}] in the file", quote(info.name),
                       text(weight.dims()), fmt::join(info.dims, ", "));
  }
  if (!info.dtype) {
    return fmt::format("{} has dtype {} in the file, which isn't supported", quote(info.name),
                       quote(info.file_dtype));
  }
  if (!can_cast(*info.dtype, weight.dtype())) {
    return fmt::format(
        "{} is {} in the graph and {} in the file; declare the weight as {} and cast it in the "
        "graph",
        quote(info.name), name(weight.dtype()), name(*info.dtype), name(*info.dtype));
  }
  return {};
}

// The weights that wait for data, in order of creation.
std::vector<Tensor> waiting_weights(Graph& graph) {
  std::vector<Tensor> weights;
  for (NodeId leaf : graph.leaves()) {
    const Node& node = graph.node(leaf);
    if (node.removed || node.as<InputAttr>().role != Role::Weight || graph.has_data(leaf)) continue;
    weights.push_back(graph.tensor(leaf));
  }
  return weights;
}

std::vector<Binding> match(Graph& graph, const SafeTensors& source, const LoadOptions& options) {
  std::vector<Binding> bindings;
  std::vector<Tensor> weights = waiting_weights(graph);
  Problems problems;
  for (const Tensor& weight : weights) {
    const std::string& name = weight.node().as<InputAttr>().name;
    std::string file_name = options.prefix + (options.rename ? options.rename(name) : name);
    const TensorInfo* info = source.find(file_name);
    std::string problem =
        info ? mismatch(weight, *info) : missing(file_name, weight, source, problems.room());
    if (!problem.empty()) problems.add(std::move(problem));
    bindings.push_back({.weight = weight, .name = name, .info = info});
  }
  if (problems.count() > 0) problems.fail(source.name(), weights.size());
  return bindings;
}

}  // namespace

LoadReport load_weights(Graph& graph, const SafeTensors& source, const LoadOptions& options) {
  std::vector<Binding> bindings = match(graph, source, options);
  // Before any weight changes: reading may still find a bool that is none.
  std::vector<TensorData> data;
  for (const Binding& binding : bindings) data.push_back(source.data(binding.info->name));

  LoadReport report;
  std::set<std::string_view> used;
  for (size_t i = 0; i < bindings.size(); ++i) {
    const Binding& binding = bindings[i];
    DType dtype = binding.weight.dtype();
    used.insert(binding.info->name);
    report.loaded.push_back(binding.name);
    if (data[i].dtype == dtype) {
      binding.weight.set(std::move(data[i]));
    } else {
      report.cast.push_back(binding.name);
      binding.weight.set(
          DataLoader([from = std::move(data[i]), dtype] { return from.cast(dtype); }));
    }
  }
  for (const TensorInfo& info : source.tensors()) {
    if (!used.contains(info.name)) report.unexpected.push_back(info.name);
  }
  std::sort(report.loaded.begin(), report.loaded.end());
  std::sort(report.cast.begin(), report.cast.end());
  return report;
}

}  // namespace luminal
