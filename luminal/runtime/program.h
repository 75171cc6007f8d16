// Program: a graph compiled by a backend. Its inputs and outputs are numbered ports, not tensors.
#pragma once

#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "luminal/base/ids.h"
#include "luminal/runtime/buffer.h"
#include "luminal/shape/dtype.h"
#include "luminal/shape/index_map.h"

namespace luminal::runtime {

enum class PortRole : uint8_t {
  Input,   // read; given before every run
  Weight,  // read; the same in every run
  State,   // read, and rewritten in place at the end of a run that updates it
  Output,  // written
};

struct PortTag;
using PortId = Id<PortTag>;  // a position in Program::ports()

// An input or output tensor, contiguous and row-major.
struct Port {
  PortRole role;
  DType dtype;
  Dims dims;
  std::string name;  // for messages
};

// A step of a run, as shown to a StepObserver.
struct StepView {
  static constexpr int kFinish =
      -1;  // the end of a run: results and states are copied to their ports
  static constexpr int kPacking = -2;  // a weight is packed into a library's layout
  int step = 0;                        // of the plan, or one of these
  int threads = 1;
  // The addresses of a kernel's parameters, in its order. before() may replace them: the kernel
  // then reads and writes there. Null for an input that was freed because a library packed it.
  std::span<const void*> params = {};
};

// Called before and after each step, on the thread that runs the program. Without an observer there
// is no overhead.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void before(const StepView& view) = 0;
  virtual void after(const StepView& view) = 0;
};

// Called when a kernel met an index outside of its dim. Throws if the graph really has such an
// index; returns if not, since a kernel may also compute elements that become padding.
class IndexJudge {
 public:
  virtual ~IndexJudge() = default;
  virtual void judge() = 0;
};

struct StepOptions {
  std::ostream* debug = nullptr;      // prints each step with shape and time
  StepObserver* observer = nullptr;   // a program without steps (no plan) doesn't call it
  IndexJudge* index_judge = nullptr;  // if null, every index outside of its dim is an error
};

// Memory that a run uses in addition to its ports, in bytes.
struct MemoryUse {
  struct Tensor {
    std::string name;  // "f32[4, 8] the result of kernel 2"
    size_t bytes = 0;
  };
  size_t arena = 0;             // working memory
  size_t unshared = 0;          // the arena's size if no tensors shared memory
  size_t folded = 0;            // kept across runs: values that depend only on weights
  std::vector<Tensor> tensors;  // in the arena, largest first; only on request
  std::vector<Tensor> kept;     // the folded ones, likewise
};

class Program {
 public:
  virtual ~Program() = default;
  virtual const std::vector<Port>& ports() const = 0;
  // Plans the memory of a run under `bindings`, as run() does when they change, without allocating.
  virtual MemoryUse plan_memory(const Bindings& bindings, bool list_tensors) = 0;
  // Must be called after a weight's bytes changed, before the next run.
  virtual void weights_changed() = 0;
  // For each port, whether the next run reads it. False for a weight of which everything that
  // depends on it is already folded.
  virtual std::vector<bool> reads() const = 0;
  // Runs once. Allocates nothing if the program's own memory is large enough and `bindings` are
  // those of the last run or plan_memory(), except in host steps and library calls. `buffers[i]`
  // belongs to port i and has the size of its dims under `bindings`; every variable of the program
  // must be bound within its bounds.
  virtual void run(const Bindings& bindings, std::span<const Buffer> buffers,
                   const StepOptions& options) = 0;
  // A program that shares the code but has its own working memory, or shares that of `beside`, a
  // program of the same backend that never runs at the same time.
  virtual std::unique_ptr<Program> clone(const Program* beside) const = 0;
};

}  // namespace luminal::runtime
