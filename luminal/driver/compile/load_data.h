// DataLoading: the elements set on a graph's leaves, loaded where that was put off, while something
// else is done.
#pragma once

#include <atomic>
#include <exception>
#include <optional>
#include <thread>
#include <vector>

#include "luminal/graph/graph.h"

namespace luminal {

// Most of a start is reading weights. Threads begin with it at once, and whoever asks for the data
// takes part in what is left; without threads all of it is done then.
class DataLoading {
 public:
  // Both must outlive it, and must not change.
  DataLoading(const Graph& graph, const std::vector<NodeId>& leaves, int threads_beside);
  ~DataLoading();  // nobody needs what isn't loaded yet
  DataLoading(const DataLoading&) = delete;
  DataLoading& operator=(const DataLoading&) = delete;

  // By leaf; none where none was set. What a loader throws is rethrown, that of the first leaf if
  // several do.
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
