"""Mistakes that developers of a compiler make, for debug_faults_test.py: see tests/conformance/plant.py.

Each is compiled into luminal_debug_faults behind a switch. When a source changes so that an original
is no longer found, update the entry (or plant another mistake of the same kind).
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Mistake:
    name: str
    file: str
    original: str
    mistaken: str
    what: str
    statement: bool = False  # a statement, switched by if/else instead of ?:


MISTAKES = (
    Mistake("emitter", "luminal/backends/cpu/math/emit_ops.cpp",
            "builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, in[0])",
            "builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, in[0])",
            "the code of a root is that of a magnitude"),
    Mistake("tail", "luminal/backends/cpu/stage/emit_loops.cpp",
            "builder_.CreateICmpULT(step, splat(left))",
            "builder_.CreateICmpULT(step, splat(builder_.CreateSub(left, builder_.getInt64(1))))",
            "what vectors leave over is one element short"),
    Mistake("in-place", "luminal/kernel/ir/in_place.cpp",
            "if (!same_at(load, target, dim)) return false;", "if (false) return false;",
            "a kernel may write over what other points of it still read", statement=True),
    Mistake("lifetime", "luminal/backends/cpu/plan/run_plan.cpp",
            "at.last = step.launch;", "if (step.is_output[p] || at.last <= at.first) at.last = step.launch;",
            "a buffer is given away after its first reader", statement=True),
    Mistake("trip", "luminal/search/rolling/unroll_terms.cpp",
            "marker->stands_for[trip.number]",
            "marker->stands_for[trip.number == 2 && graph_.node(marker->stands_for[0]).op == Op::Input ? 1 "
            ": trip.number]",
            "the third trip of a loop reads the weights of the second"),
    Mistake("order", "luminal/search/cuts/find_plan.cpp",
            "result.steps.push_back(kernel::make_step(*kernel.lowered, kernel.charged));",
            "result.steps.insert(result.steps.begin(), kernel::make_step(*kernel.lowered, kernel.charged));",
            "each kernel comes before those it reads from", statement=True),
    Mistake("extent", "luminal/kernel/lower/instances.cpp",
            "graph_.at(reduce.operand).dims.back()",
            "graph_.at(reduce.operand).dims.back() - Expr(reduce.reducer == Reducer::Sum ? 1 : 0)",
            "a sum leaves out its last element"),
)  # fmt: skip


def number(name):
    """By which the program knows a mistake; 0: none."""
    return 1 + [mistake.name for mistake in MISTAKES].index(name) if name else 0
