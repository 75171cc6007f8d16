#include "luminal/io/load_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "luminal/base/errors.h"
#include "luminal/base/text/near_names.h"
#include "luminal/graph/tensor.h"
#include "luminal/io/file/quote.h"

namespace luminal {
namespace {

using io::quote;

constexpr size_t kMaxListed = 10;  // problems in a message

// What a file can give a weight.
struct Offer {
  TensorInfo info;
  std::string tensor;  // of the file; several offers may come from one
  bool made = false;   // read() makes the elements and can't fail, so it can wait
  std::function<TensorData()> read;
};

struct Offers {
  std::string file;
  std::vector<Offer> all;  // sorted by name

  const Offer* find(std::string_view name) const {
    auto found = std::lower_bound(
        all.begin(), all.end(), name,
        [](const Offer& offer, std::string_view wanted) { return offer.info.name < wanted; });
    return found != all.end() && found->info.name == name ? &*found : nullptr;
  }
};

struct Binding {
  Tensor weight;
  std::string name;
  const Offer* offer;
};

// Up to three names of the file that may have been meant.
std::vector<std::string> near_offers(std::string_view wanted, const Offers& offers) {
  std::vector<std::string> names;
  for (const Offer& offer : offers.all) names.push_back(offer.info.name);
  names = base::near_names(wanted, names);
  for (std::string& name : names) name = quote(name);
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
  void add_missing(std::string name, std::string problem) {
    missing_.push_back(std::move(name));
    add(std::move(problem));
  }
  bool room() const { return count_ < kMaxListed; }
  size_t count() const { return count_; }

  [[noreturn]] void fail(const std::string& file, size_t n_weights) const {
    std::string rest =
        count_ > kMaxListed ? fmt::format("\n  and {} more", count_ - kMaxListed) : "";
    throw WeightsError(fmt::format("load_weights: {} doesn't fit {} of the graph's {} weights:{}{}",
                                   quote(file), count_, n_weights, lines_, rest),
                       missing_);
  }

 private:
  size_t count_ = 0;
  std::vector<std::string> missing_;
  std::string lines_;
};

std::string missing(const std::string& name, const Tensor& weight, const Offers& offers,
                    bool look_for_near) {
  std::string line = fmt::format("{} {} is missing", quote(name), text(weight.dims()));
  std::vector<std::string> near;
  if (look_for_near) near = near_offers(name, offers);
  if (!near.empty()) line += fmt::format("; similar names: {}", fmt::join(near, ", "));
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

std::vector<Binding> match(Graph& graph, const Offers& offers, const LoadOptions& options) {
  std::vector<Binding> bindings;
  std::vector<Tensor> weights = waiting_weights(graph);
  Problems problems;
  for (const Tensor& weight : weights) {
    const std::string& name = weight.node().as<InputAttr>().name;
    std::string file_name = options.prefix + (options.rename ? options.rename(name) : name);
    const Offer* offer = offers.find(file_name);
    if (offer == nullptr) {
      problems.add_missing(file_name, missing(file_name, weight, offers, problems.room()));
    } else if (std::string problem = mismatch(weight, offer->info); !problem.empty()) {
      problems.add(std::move(problem));
    }
    bindings.push_back({.weight = weight, .name = name, .offer = offer});
  }
  if (problems.count() > 0) problems.fail(offers.file, weights.size());
  return bindings;
}

DataLoader as(DType dtype, std::function<TensorData()> read) {
  return [read = std::move(read), dtype] { return read().cast(dtype); };
}

LoadReport load(Graph& graph, const Offers& offers, const LoadOptions& options) {
  std::vector<Binding> bindings = match(graph, offers, options);
  // Before any weight changes: reading may still find a bool that is none.
  std::vector<TensorData> data;
  for (const Binding& binding : bindings) {
    data.push_back(binding.offer->made ? TensorData() : binding.offer->read());
  }
  LoadReport report;
  std::set<std::string_view> used;
  for (size_t i = 0; i < bindings.size(); ++i) {
    const Binding& binding = bindings[i];
    const Offer& offer = *binding.offer;
    const DType dtype = binding.weight.dtype();
    used.insert(offer.tensor);
    report.loaded.push_back(binding.name);
    if (*offer.info.dtype != dtype) report.cast.push_back(binding.name);
    if (offer.made) {
      binding.weight.set(as(dtype, offer.read));
    } else if (data[i].dtype == dtype) {
      binding.weight.set(std::move(data[i]));
    } else {
      binding.weight.set(as(dtype, [from = std::move(data[i])] { return from; }));
    }
  }
  std::set<std::string> unexpected;
  for (const Offer& offer : offers.all) {
    if (!used.contains(offer.tensor)) unexpected.insert(offer.tensor);
  }
  report.unexpected.assign(unexpected.begin(), unexpected.end());
  std::sort(report.loaded.begin(), report.loaded.end());
  std::sort(report.cast.begin(), report.cast.end());
  return report;
}

constexpr std::pair<Plane, std::string_view> kPlanes[] = {
    {Plane::Quants, kQuantsName}, {Plane::Scales, kScalesName}, {Plane::Offsets, kOffsetsName}};

using Source = std::shared_ptr<const WeightSource>;

Offer plane_of(const Source& source, const TensorInfo& info, Plane plane, std::string_view part) {
  const BlockFormat& format = *info.blocks;
  TensorInfo offered = info;
  offered.name = fmt::format("{}.{}", info.name, part);
  offered.dtype = plane == Plane::Quants ? format.quants : format.scales;
  if (plane != Plane::Quants) offered.dims.back() /= format.block;
  return {.info = std::move(offered),
          .tensor = info.name,
          .made = true,
          .read = [source, name = info.name, plane] { return source->plane(name, plane); }};
}

void add_offers(std::vector<Offer>& offers, const Source& source, const TensorInfo& info) {
  if (!info.blocks || info.dims.empty()) {
    offers.push_back({.info = info, .tensor = info.name, .read = [source, name = info.name] {
                        return source->data(name);
                      }});
    return;
  }
  TensorInfo values = info;
  values.dtype = DType::F32;
  offers.push_back({.info = std::move(values),
                    .tensor = info.name,
                    .made = true,
                    .read = [source, name = info.name] { return read_values(*source, name); }});
  for (const auto& [plane, part] : kPlanes) {
    if (plane == Plane::Offsets && !info.blocks->offsets) continue;
    offers.push_back(plane_of(source, info, plane, part));
  }
}

Offers offers_of(const Source& source) {
  Offers offers{.file = source->name(), .all = {}};
  for (const TensorInfo& info : source->tensors()) add_offers(offers.all, source, info);
  // A tensor of the file comes before a plane that has its name.
  const auto order = [](const Offer& offer) {
    return std::pair(std::string_view(offer.info.name), offer.info.name != offer.tensor);
  };
  std::ranges::sort(offers.all, {}, order);
  return offers;
}

// The name in the file of a weight, without the prefix. A plane of a quantised tensor is named by
// that tensor's weight, renamed, and the part.
std::string renamed(const std::string& name, const WeightSource& source,
                    const LoadOptions& options) {
  if (!options.rename) return name;
  for (const auto& [plane, part] : kPlanes) {
    if (!name.ends_with(fmt::format(".{}", part))) continue;
    const std::string tensor = options.rename(name.substr(0, name.size() - part.size() - 1));
    const TensorInfo* info = source.find(options.prefix + tensor);
    if (info && info->blocks) return fmt::format("{}.{}", tensor, part);
  }
  return options.rename(name);
}

}  // namespace

WeightsError::WeightsError(const std::string& message, std::vector<std::string> missing)
    : UserError(message), missing_(std::move(missing)) {}
WeightsError::~WeightsError() = default;

LoadReport load_weights(Graph& graph, Source source, const LoadOptions& options) {
  LoadOptions of_planes = options;
  of_planes.rename = [&](const std::string& name) { return renamed(name, *source, options); };
  return load(graph, offers_of(source), of_planes);
}

LoadReport load_weights(Graph& graph, const SafeTensors& source, const LoadOptions& options) {
  return load_weights(graph, std::make_shared<const SafeTensors>(source), options);
}

LoadReport load_weights(Graph& graph, const Gguf& source, const LoadOptions& options) {
  return load_weights(graph, std::make_shared<const Gguf>(source), options);
}

std::function<std::optional<BlockFormat>(const std::string&)> weight_formats(
    Source source, const LoadOptions& options) {
  return
      [source = std::move(source), options](const std::string& name) -> std::optional<BlockFormat> {
        const TensorInfo* info =
            source->find(options.prefix + (options.rename ? options.rename(name) : name));
        return info ? info->blocks : std::nullopt;
      };
}

std::function<std::optional<BlockFormat>(const std::string&)> weight_formats(
    const Gguf& source, const LoadOptions& options) {
  return weight_formats(std::make_shared<const Gguf>(source), options);
}

}  // namespace luminal
