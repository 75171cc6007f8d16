// DataLoading: loads the data of a graph's leaves, where that was deferred, in parallel with other
// work.
#pragma once

#include <atomic>
#include <exception>
#include <optional>
#include <thread>
#include <vector>

#include "luminal/graph/graph.h"

namespace luminal {

// Reading weights is most of the start-up time. Threads start it at once, and finish() helps with
// what is left; without threads finish() does all of it.
class DataLoading {
 public:
  // Both must outlive it, and must not change.
  DataLoading(const Graph& graph, const std::vector<NodeId>& leaves, int threads_beside);
  ~DataLoading();  // what isn't loaded yet is dropped
  DataLoading(const DataLoading&) = delete;
  DataLoading& operator=(const DataLoading&) = delete;

  // By leaf; nullopt if none was set. Rethrows what a loader threw, that of the first leaf if
  // several did.
  std::vector<std::optional<TensorData>> finish();

 private:
  void work();

  const Graph& graph_;
  const std::vector<NodeId>& leaves_;
  std::vector<size_t> wanted_;  // leaves with data
  std::vector<std::optional<TensorData>> loaded_;
  std::vector<std::exception_ptr> errors_;
  std::atomic<size_t> next_ = 0;
  std::vector<std::jthread> others_;
};

}  // namespace luminal
