"""Constants of lowering, scheduling and the cost model, changed: tests/golden must notice each; see tests/conformance/plant.py."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Mistake:
    file: str
    original: str
    mistaken: str
    what: str
    statement: bool = False  # a statement, switched by if/else instead of ?:


MISTAKES = (
    Mistake("luminal/kernel/lower/stage_heads.cpp", "kWorthBuffering - 1", "4 * kWorthBuffering",
            "a value must cost four times as much before it gets a local buffer"),
    Mistake("luminal/backends/cpu/schedule/schedule.cpp", "options.choices.get(kernel::Knob::Unroll, unroll)",
            "options.choices.get(kernel::Knob::Unroll, unroll / 2)", "loops are unrolled half as far"),
    Mistake("luminal/search/cost/cost_model.cpp", "model.bytes_per_second *= kBytesReached;",
            "model.bytes_per_second *= 0.8;", "kernels reach less of the bandwidth", statement=True),
)  # fmt: skip
