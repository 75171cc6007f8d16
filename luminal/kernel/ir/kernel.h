// Kernel: the IR of one launch, loops over scalar instructions. Cost model, printer and every code
// generator read it.
//
// A kernel runs its stages, in order, once per point of its outer loops; points are independent, so
// they may run on any thread. A stage loops over its own inner loops and, if it reduces, over one
// more, and writes one value per point of its inner loops: to a local buffer that later stages of
// the same point read, or to an output. Pointwise kernels, softmax, norms, contractions, scans and
// scatters are all of this form.
//
// Loops are numbered; index_of(loop, extent) in an expression is the position along a loop. Extents
// and expressions may use variables, which become arguments of the compiled kernel.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "luminal/base/ids.h"
#include "luminal/graph/op.h"
#include "luminal/kernel/ir/loop_id.h"
#include "luminal/shape/dtype.h"
#include "luminal/shape/index_map.h"

namespace luminal::kernel {

struct ParamTag;
struct StageTag;
struct InstTag;
using ParamId = Id<ParamTag>;  // a position in Kernel::params
using StageId = Id<StageTag>;  // a position in Kernel::stages
using InstId = Id<InstTag>;    // a position in Stage::body

// A tensor the kernel reads or writes: contiguous, row-major.
struct Param {
  DType dtype;
  Dims dims;
  bool output = false;
  // The input whose memory this output may reuse, if there is one. A stage copies that input to the
  // output; the copy is skipped when both have the same address. Nothing else reads that input.
  ParamId shares = {};
};

// An index along one dim of a tensor or a local buffer: an expression over loops or, for gathers,
// the value of an integer instruction. An index out of bounds is a run-time error unless it lies
// under padding; emitted code clamps it to the dim and reports it.
struct Index {
  Expr expr;                    // over loops
  std::optional<InstId> value;  // if set, the index is this value and `expr` is unused
};

struct ConstInst {  // a number of the instruction's dtype
  double real = 0;
  int64_t integer = 0;
};
struct IotaInst {  // the value of an expression over loops: ints wrap, bool is != 0
  Expr expr;
};
struct LoadInst {  // an element of params[param]
  ParamId param;
  std::vector<Index> index;  // one per dim
};
struct LocalInst {  // an element of the local buffer of an earlier stage
  StageId stage;
  std::vector<Expr> index;  // one per dim of the buffer, see buffer_loops
};
// An element-wise primitive: Exp2 … Sqrt, Add … Equal, Select, Cast, Bitcast. Semantics are
// ops.def's.
struct OpInst {
  Op op;
  std::vector<InstId> operands;
};

struct Inst {
  DType dtype;  // of the result; floats are rounded to it, integers wrapped
  std::variant<ConstInst, IotaInst, LoadInst, LocalInst, OpInst> what;
};

// Reduces the body's result over one more loop. f16, bf16 and f32 accumulate in at least f32 and
// are rounded once, at the end, to the stage's dtype.
struct Reduction {
  Reducer reducer;
  LoopId loop;
  // An inclusive scan: the loop runs in order, and at each of its points the running result is
  // rounded and written. The target then has one more dim, the loop's.
  bool running = false;
};

// Where a stage's values go: a local buffer with one dim per inner loop (a scalar if it has none),
// or params[param] at an index over the kernel's loops.
struct LocalTarget {};
struct OutputTarget {
  ParamId param;
  std::vector<Expr> index;
};
// Scatters into params[param], which an earlier stage of the same outer point has filled. `row` is
// the index along dim 0; rows out of bounds are skipped. The loops that the row depends on run in
// order: of equal rows the last one wins, or all are combined with what is there.
struct UpdateTarget {
  ParamId param;
  InstId row;
  std::vector<Expr> rest;  // the index along the other dims, over loops that the row doesn't use
  std::optional<Reducer> combine;
};

struct Stage {
  DType dtype;
  std::vector<LoopId> loops;  // inner loops, outermost first
  std::optional<Reduction> reduction;
  std::vector<Inst> body;  // operands come before their users
  InstId result;
  std::variant<LocalTarget, OutputTarget, UpdateTarget> target;
};

// The loops behind the dims of a stage's local buffer: its inner loops, then the loop of a scan.
std::vector<LoopId> buffer_loops(const Stage& stage);

struct Loop {
  Expr extent;
};

struct Forms;  // kernel/recognise/forms.h

struct Kernel {
  IdVector<ParamId, Param> params;
  IdVector<LoopId, Loop> loops;  // all of them; the first `n_outer` are the outer ones
  int n_outer = 0;
  IdVector<StageId, Stage> stages;
  std::vector<Expr> variables;  // of all extents and expressions, sorted by name: the arguments

  // Work, as expressions over the variables; read by the roofline model.
  Expr bytes_read;
  Expr bytes_written;
  Expr flops;
  Expr local_bytes;  // of local buffers, per outer point

  // What the kernel is, recognised by finish(); null before.
  std::shared_ptr<const Forms> forms = nullptr;
};

inline Expr extent_of(const Kernel& kernel, LoopId loop) { return kernel.loops[loop].extent; }
inline Expr index_of(const Kernel& kernel, LoopId loop) {
  return index_of(loop, extent_of(kernel, loop));
}
inline bool is_outer(const Kernel& kernel, LoopId loop) {
  return loop.index() < static_cast<size_t>(kernel.n_outer);
}
inline IdRange<LoopId> outer_loops(const Kernel& kernel) {
  return {0, static_cast<size_t>(kernel.n_outer)};
}

// Whether a stage only copies into an output the input that it `shares` memory with.
bool copies_shared(const Kernel& kernel, const Stage& stage);

// The canonical text: equal kernels have equal text, whatever made them. Names are positions.
std::string text(const Kernel& kernel);
std::string text(const Stage& stage);

}  // namespace luminal::kernel
