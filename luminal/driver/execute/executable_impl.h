// What an Executable holds: a program, its buffers, and how tensors map to ports.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "luminal/driver/executable.h"
#include "luminal/driver/execute/view_checks.h"
#include "luminal/driver/options/variants.h"
#include "luminal/driver/report/step_notes.h"
#include "luminal/graph/interpret/interpreter.h"
#include "luminal/runtime/program.h"
#include "luminal/shape/index/resolve_dims.h"

namespace luminal {

struct Executable::Impl {
  std::shared_ptr<const Graph> graph;       // as it was when compiled
  std::shared_ptr<const GraphHome> source;  // the user's graph: only to recognise its tensors
  std::vector<std::unique_ptr<runtime::Program>> programs;  // by variant, over the same ports
  Variants variants;
  std::unordered_map<NodeId, size_t> leaf_port;  // the port of a leaf, of a result
  std::unordered_map<NodeId, size_t> result_port;
  std::vector<Expr> variables;  // all of the graph's, sorted by name
  std::shared_ptr<const ViewChecks> view_checks;
  // By variant, of a backend that runs plans; else none.
  std::vector<std::shared_ptr<const StepNotes>> notes;

  uint64_t memory_limit = 0;  // bytes; 0: none

  // By port: its bytes and their state.
  std::vector<runtime::Buffer> buffers;
  struct Slot {
    std::optional<std::vector<int64_t>> given;   // dims as set; nullopt: only the element count
    ResolvedDims now;                            // in this run
    runtime::Buffer storage;                     // an output's memory, the largest so far
    bool ready = false;                          // its bytes have the dims of this run
    bool released = false;                       // a weight that was released
    std::optional<std::span<std::byte>> caller;  // by bind_output() or bind_state()
  };
  std::vector<Slot> slots;
  struct CallerRange {  // of memory that a run writes to
    std::span<const std::byte> bytes;
    size_t port;
  };
  std::vector<CallerRange> caller_ranges;  // of this run, by address

  // Of the last run; nullopt after one that failed before it started.
  std::optional<Bindings> bound;
  size_t current = 0;

  // Of all programs; a variant's own have narrower dims.
  std::vector<runtime::Port> port_list;
  const std::vector<runtime::Port>& ports() const { return port_list; }

  size_t checked(ExecutablePort port, const char* asked) const;  // UserError if there is no such
  // The port of a leaf; of a result or a leaf; of a result. `asked` names the call in messages.
  size_t leaf_of(const TensorRef& tensor, const char* asked) const;
  size_t value_of(const TensorRef& tensor, const char* asked) const;
  size_t result_of(const TensorRef& tensor, const char* asked) const;
  // The node of a handle, if it is the compiled graph's.
  NodeId owned(const Tensor& tensor, const char* asked) const;
  [[noreturn]] void no_such_name(std::string_view name, const char* asked, bool leaves_only) const;
  // By port: whether it is a weight that no run reads any more.
  std::vector<bool> folded_ports() const;
  void bind_data(size_t port, const TensorData& data);
  void run(const Bindings& bindings, const RunOptions& options);
  // `dims`: null if only the number of elements is known.
  void hold(size_t port, runtime::Buffer buffer, const std::vector<int64_t>* dims);
  void change_bindings(const Bindings& bindings);
  void check_bindings(const Bindings& bindings) const;
  // UserError if a run of this variant would need more memory than the limit.
  void check_memory(runtime::Program& program, const Bindings& bindings) const;
  void prepare_port(size_t port);
  void prepare_output(size_t port);
  void prepare_bound_state(size_t port);
  void unbind(size_t port);
  // At least `size` bytes of the executable's own in place of the caller's, or for an output.
  runtime::Buffer own_memory(size_t port, size_t size);
  size_t state_of(const TensorRef& tensor, const char* asked) const;
  // A state's bytes: the caller's, if they are bound.
  runtime::Buffer state_value(size_t port) const;
  // UserError if memory of the caller that a run writes to overlaps other memory of it.
  void check_caller_memory();
  // Copies bound states from, and results and bound states to, caller memory that kernels can't
  // write to directly.
  void copy_from_caller() const;
  void copy_to_caller() const;
  // The dims of a port's bytes; null if they aren't known.
  const std::vector<int64_t>* dims_of(size_t port) const;
  TensorData port_data(size_t port) const;
  interpret::LeafData leaf_data() const;
  // Called if a kernel met an index out of bounds. UserError that names the op, the position, the
  // value and the size, found by recomputing the graph's indices; returns if the graph has none out
  // of bounds.
  void judge_rows(const Bindings& bindings) const;
  void run_watched(const Bindings& bindings, const RunOptions& options, runtime::StepOptions steps);
};

}  // namespace luminal
