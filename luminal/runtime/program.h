// Program: what a backend makes of a graph. It knows numbered ports, not tensors.
#pragma once

#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

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

// A tensor that enters or leaves, contiguous and row-major.
struct Port {
  PortRole role;
  DType dtype;
  Dims dims;
  std::string name;  // for messages
};

// A step of a run, to whoever watches it.
struct StepView {
  static constexpr int kFinish =
      -1;  // the end of a run: results and states are copied to their ports
  static constexpr int kPacking = -2;  // a weight is put into the order of a library
  int step = 0;                        // of the plan, or one of these
  int threads = 1;
  // Of a kernel: where its parameters are, in its order. What `before` puts in their place is what
  // the kernel reads and writes. Null for an input that isn't kept: a library has packed it.
  std::span<const void*> params = {};
};

// Called around each step, on the thread that runs the program. A program that nobody watches pays
// nothing for it.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void before(const StepView& view) = 0;
  virtual void after(const StepView& view) = 0;
};

// Asked when a kernel met an index outside of its dim. Throws where the graph has such an index;
// returns where it hasn't: a kernel may look at elements that are padding in the end.
class IndexJudge {
 public:
  virtual ~IndexJudge() = default;
  virtual void judge() = 0;
};

struct StepOptions {
  std::ostream* debug = nullptr;      // prints each step with shape and time
  StepObserver* observer = nullptr;   // of plans alone: a program without steps doesn't call it
  IndexJudge* index_judge = nullptr;  // none: an index outside is an error, whoever looks at it
};

// What a run takes beside its ports, in bytes.
struct MemoryUse {
  struct Tensor {
    std::string name;  // "f32[4, 8] the result of kernel 2"
    size_t bytes = 0;
  };
  size_t arena = 0;             // working memory
  size_t unshared = 0;          // what it would be if nothing shared memory
  size_t folded = 0;            // kept from run to run: values that depend on weights alone
  std::vector<Tensor> tensors;  // in the arena, largest first; only where asked for
  std::vector<Tensor> kept;     // the folded ones, likewise
};

class Program {
 public:
  virtual ~Program() = default;
  virtual const std::vector<Port>& ports() const = 0;
  // Plans a run under `bindings`, as run() does when they change, and allocates nothing of it.
  virtual MemoryUse plan_memory(const Bindings& bindings, bool list_tensors) = 0;
  // To be called after a weight's bytes changed, before the next run.
  virtual void weights_changed() = 0;
  // By port: whether the next run reads it: not a weight whose values are all folded by now.
  virtual std::vector<bool> reads() const = 0;
  // One run; without an allocation where the program's own memory is large enough and `bindings`
  // are those of the last run or plan_memory(), except in steps on the host and of a library.
  // `buffers[i]` belongs to port i and has the size of its dims under `bindings`; every variable of
  // the program is bound within its bounds.
  virtual void run(const Bindings& bindings, std::span<const Buffer> buffers,
                   const StepOptions& options) = 0;
  // Another one over the same code, with working memory of its own, or with that of `beside`, a
  // program of the same backend that never runs at the same time.
  virtual std::unique_ptr<Program> clone(const Program* beside) const = 0;
};

}  // namespace luminal::runtime
