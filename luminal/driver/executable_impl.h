// What an Executable holds: a program, its buffers, and how tensors map to ports.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "luminal/driver/executable.h"
#include "luminal/driver/step_notes.h"
#include "luminal/runtime/program.h"

namespace luminal {

struct Executable::Impl {
  std::shared_ptr<const Graph> graph;  // as it was when compiled
  const Graph* source = nullptr;       // the user's graph: only to recognise its tensors
  std::unique_ptr<runtime::Program> program;
  std::unordered_map<NodeId, size_t> leaf_port;  // which port holds a leaf, a result
  std::unordered_map<NodeId, size_t> result_port;
  std::vector<Expr> variables;             // all of the graph's, sorted by name
  std::shared_ptr<const StepNotes> notes;  // of a backend that runs plans, else null

  // By port: its bytes, and the dims they were given with (none: only their number is known).
  struct Slot {
    runtime::Buffer buffer;
    std::optional<std::vector<int64_t>> dims;
  };
  std::vector<Slot> slots;

  size_t leaf_of(const Tensor& tensor, const char* asked) const;
  void check_owner(const Tensor& tensor, const char* asked) const;
  void bind_data(size_t port, const TensorData& data);
  void run(const Bindings& bindings, const RunOptions& options);
  void check_bindings(const Bindings& bindings) const;
  void prepare_port(size_t port, const Bindings& bindings);
  TensorData port_data(size_t port) const;
  void run_watched(const Bindings& bindings, std::span<const runtime::Buffer> buffers,
                   const RunOptions& options, runtime::StepOptions steps);
};

}  // namespace luminal
