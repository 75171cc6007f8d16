#include "luminal/driver/compile/load_data.h"

#include <algorithm>

namespace luminal {

DataLoading::DataLoading(const Graph& graph, const std::vector<NodeId>& leaves, int threads_beside)
    : graph_(graph), leaves_(leaves), loaded_(leaves.size()), errors_(leaves.size()) {
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (graph.has_data(leaves[i])) wanted_.push_back(i);
  }
  const size_t most = std::min(wanted_.size(), static_cast<size_t>(std::max(threads_beside, 0)));
  for (size_t t = 0; t < most; ++t) others_.emplace_back([this] { work(); });
}

DataLoading::~DataLoading() { next_ = wanted_.size(); }

void DataLoading::work() {
  for (size_t k = next_++; k < wanted_.size(); k = next_++) {
    const size_t leaf = wanted_[k];
    try {
      loaded_[leaf] = graph_.data(leaves_[leaf]);
    } catch (...) {
      errors_[leaf] = std::current_exception();
      next_ = wanted_.size();  // the remainder isn't needed
    }
  }
}

std::vector<std::optional<TensorData>> DataLoading::finish() {
  work();
  others_.clear();  // joins
  for (const std::exception_ptr& error : errors_) {
    if (error) std::rethrow_exception(error);
  }
  return std::move(loaded_);
}

}  // namespace luminal
