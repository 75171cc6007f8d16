// StageBody: emits the instructions of one stage, each instance at most once.
#pragma once

#include <optional>
#include <unordered_map>
#include <utility>

#include "luminal/kernel/lower/stage_builder.h"

namespace luminal::kernel {

class StageBody {
 public:
  StageBody(StageBuilder& builder, Stage& stage) : builder_(builder), stage_(stage) {}

  // The value of instance i: read from another stage's buffer, or computed here.
  InstId value(InstanceId i);
  // The same, always computed here.
  InstId compute(InstanceId i);

 private:
  InstId add(DType dtype, decltype(Inst::what) what);
  InstId local(InstanceId i, InstanceId group, std::optional<Expr> element);
  InstId scanned(const Instance& instance);
  Index index_at(Expr e);
  InstId arithmetic(Expr e);
  InstId sum(Expr e);
  InstId combine(Expr e, InstId a, InstId b);
  InstId divide(bool mod, Expr dividend, Expr divisor, InstId top, InstId by);
  InstId integer_op(Op op, std::vector<InstId> operands);
  InstId less(InstId a, InstId b);

  StageBuilder& builder_;
  Stage& stage_;
  std::unordered_map<InstanceId, InstId> done_;
};

}  // namespace luminal::kernel
