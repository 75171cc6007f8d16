#include "luminal/driver/load_data.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

namespace luminal {

std::vector<std::optional<TensorData>> load_data(const Graph& graph,
                                                 const std::vector<NodeId>& leaves, int threads) {
  std::vector<size_t> wanted;  // with data
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (graph.has_data(leaves[i])) wanted.push_back(i);
  }
  std::vector<std::optional<TensorData>> loaded(leaves.size());
  std::vector<std::exception_ptr> errors(leaves.size());
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t k = next++; k < wanted.size(); k = next++) {
      const size_t leaf = wanted[k];
      try {
        loaded[leaf] = graph.data(leaves[leaf]);
      } catch (...) {
        errors[leaf] = std::current_exception();
        next = wanted.size();  // nobody needs the rest
      }
    }
  };
  {
    std::vector<std::jthread> others;
    const size_t most = std::min(wanted.size(), static_cast<size_t>(std::max(threads, 1)));
    for (size_t t = 1; t < most; ++t) others.emplace_back(work);
    work();
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return loaded;
}

}  // namespace luminal
