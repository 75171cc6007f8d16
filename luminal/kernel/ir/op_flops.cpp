#include "luminal/kernel/ir/op_flops.h"

namespace luminal::kernel {

int flops_of(Op op) {
  switch (op) {
    case Op::Exp2:
    case Op::Log2:
    case Op::Sin:
      return 8;
    case Op::Recip:
    case Op::Sqrt:
    case Op::Mod:
    case Op::IntDiv:
      return 4;
    case Op::Input:
    case Op::Constant:
    case Op::Iota:
    case Op::Bitcast:
    case Op::View:
    case Op::Gather:
      return 0;
    case Op::Cast:
    case Op::Add:
    case Op::Mul:
    case Op::BitAnd:
    case Op::LessThan:
    case Op::Equal:
    case Op::Select:
    case Op::Reduce:
    case Op::Scan:
    case Op::Scatter:
    case Op::Custom:
      return 1;
  }
  return 1;
}

}  // namespace luminal::kernel
