"""Options of compile() and load(), by name."""
import os
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

FusionPolicy = Literal["modelled", "always", "never", "measured", "fixed"]


class CompileOptions(TypedDict, total=False):
    """All are optional. `luminal compile --help` says what each does, with dashes for underscores."""

    backend: Literal["cpu", "interp"]
    target: str
    threads: int
    library: Literal["never", "measured", "always"]
    memory_limit: int
    float64: bool
    fusion: FusionPolicy
    fusion_groups: Mapping[str, FusionPolicy]
    numerics: Literal["exact", "reassociating", "finite", "approximate"]
    rules: Mapping[str, str]
    disable_rules: Sequence[str]
    rolling: Literal["off", "auto", "always"]
    typical_sizes: Mapping[str, int]
    variants: Mapping[str, Sequence[int]]
    search: Literal["recorded", "modelled", "measured", "replay"]
    seconds: float
    candidates: int
    keep_busy_times: bool
    seed: int
    cache_folder: str | os.PathLike[str]
    cache_bytes: int
    records: str | os.PathLike[str]
    fusion_profile: str | os.PathLike[str]
    machine: str | os.PathLike[str]
