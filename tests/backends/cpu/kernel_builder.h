// Kernels by hand, for tests: loops, params and stages in a few words.
#pragma once

#include <string>
#include <vector>

#include "luminal/kernel/ir/kernel.h"
#include "luminal/kernel/recognise/forms.h"

namespace luminal::backends::cpu {

using kernel::LoopId;
using kernel::ParamId;
using kernel::StageId;

class StageBuilder {
 public:
  explicit StageBuilder(kernel::Stage& stage) : stage_(stage) {}

  kernel::InstId constant(DType dtype, double value) {
    return add(dtype, kernel::ConstInst{value, static_cast<int64_t>(value)});
  }
  kernel::InstId iota(DType dtype, Expr e) { return add(dtype, kernel::IotaInst{e}); }
  kernel::InstId load(const kernel::Kernel& k, ParamId param, std::vector<Expr> index) {
    std::vector<kernel::Index> plain;
    for (Expr e : index) plain.push_back({e, {}});
    return add(k.params[param].dtype, kernel::LoadInst{param, plain});
  }
  kernel::InstId gather(const kernel::Kernel& k, ParamId param, std::vector<kernel::Index> index) {
    return add(k.params[param].dtype, kernel::LoadInst{param, index});
  }
  kernel::InstId local(DType dtype, StageId stage, std::vector<Expr> index = {}) {
    return add(dtype, kernel::LocalInst{stage, index});
  }
  kernel::InstId op(Op op, DType dtype, std::vector<kernel::InstId> operands) {
    return add(dtype, kernel::OpInst{op, operands});
  }

 private:
  kernel::InstId add(DType dtype, auto what) {
    stage_.body.push_back({dtype, what});
    stage_.result = kernel::InstId::at(stage_.body.size() - 1);
    return stage_.result;
  }
  kernel::Stage& stage_;
};

struct KernelBuilder {
  kernel::Kernel k;

  ParamId param(DType dtype, Dims dims, bool output = false) {
    return k.params.push_back({dtype, dims, output});
  }
  Expr outer(Expr extent) {
    k.n_outer++;
    return inner(extent);
  }
  Expr inner(Expr extent) { return index_of(k.loops.push_back({extent}), extent); }
  LoopId last_loop() const { return LoopId::at(k.loops.size() - 1); }
  // A stage to a local buffer unless an output is said later.
  StageBuilder stage(DType dtype, std::vector<LoopId> loops = {},
                     std::optional<kernel::Reduction> reduction = {}) {
    k.stages.push_back({.dtype = dtype,
                        .loops = loops,
                        .reduction = reduction,
                        .body = {},
                        .result = {},
                        .target = kernel::LocalTarget{}});
    return StageBuilder(k.stages.back());
  }
  void output(ParamId param, std::vector<Expr> index) {
    k.stages.back().target = kernel::OutputTarget{param, index};
  }
  // With its variables listed and its work stated, as lowering does.
  kernel::Kernel done() {
    std::vector<Expr> found;
    auto take = [&](Expr e) {
      for (Expr v : e.variables()) {
        if (std::find(found.begin(), found.end(), v) == found.end()) found.push_back(v);
      }
    };
    for (const auto& loop : k.loops) take(loop.extent);
    k.bytes_read = k.bytes_written = 0;
    for (const auto& p : k.params) {
      for (Expr d : p.dims) take(d);
      Expr bytes = n_elements(p.dims) * Expr(bits(p.dtype)) / Expr(8);
      (p.output ? k.bytes_written : k.bytes_read) =
          (p.output ? k.bytes_written : k.bytes_read) + bytes;
    }
    std::sort(found.begin(), found.end(), [](Expr a, Expr b) { return a.name() < b.name(); });
    k.variables = found;
    kernel::recognise(k);
    return k;
  }
};

}  // namespace luminal::backends::cpu
