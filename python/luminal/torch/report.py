"""What torch.compile gave to this backend, and what became of it."""
import dataclasses
import html
from collections.abc import Callable
from typing import Any

import luminal


@dataclasses.dataclass
class Fixed:
    """A size that was variable, and became one number."""

    symbol: str
    value: str
    why: str  # the user's line, if PyTorch knows it


@dataclasses.dataclass
class GraphReport:
    """One graph: all of it ran through Luminal, or, with fallbacks, none."""

    name: str
    kind: str  # "inference", "forward" or "backward"
    operators: int = 0
    inputs: list[str] = dataclasses.field(default_factory=list)
    weights: int = 0
    states: list[str] = dataclasses.field(default_factory=list)
    results: int = 0
    sizes: dict[str, Any] = dataclasses.field(default_factory=dict)  # range by variable
    guards: list[str] = dataclasses.field(default_factory=list)
    fixed: list[Fixed] = dataclasses.field(default_factory=list)
    fallbacks: list[str] = dataclasses.field(default_factory=list)  # why the graph runs eagerly
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)  # by stage
    compiled: luminal.CompileReport | None = None
    copies: Callable[[], list[str]] = list

    @property
    def copied(self) -> list[str]:
        """The arguments that the last call copied: their memory has strides, or isn't aligned. None once the graph is gone."""
        return self.copies()

    def lines(self) -> list[str]:
        found = [f"{self.name}, {self.kind}: {self.operators} operators, {len(self.inputs)} inputs, {self.weights} weights, "
                 f"{len(self.states)} states, {self.results} results"]
        if self.inputs:
            found.append("  inputs: " + ", ".join(self.inputs))
        if self.states:
            found.append("  updated in place: " + ", ".join(self.states))
        for name, (lower, upper) in self.sizes.items():
            found.append(f"  size {name}: {lower} to {'any' if upper is None else upper}")
        found += [f"  fixed: {each.symbol} = {each.value}{', by ' + each.why if each.why else ''}" for each in self.fixed]
        found += [f"  guard: {each}" for each in self.guards]
        found += [f"  runs eagerly: {each}" for each in self.fallbacks]
        if self.copied:
            found.append("  copied in the last call: " + ", ".join(self.copied))
        if self.compiled is not None:
            found.append(f"  {self.compiled.n_kernels} kernels for {self.compiled.target}")
            found += [f"  note: {each}" for each in self.compiled.notes]
        found.append("  seconds: " + ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in self.seconds.items()))
        return found


@dataclasses.dataclass
class Report:
    """All graphs since the start or reset(), in the order that PyTorch gave them."""

    graphs: list[GraphReport] = dataclasses.field(default_factory=list)

    @property
    def fallbacks(self) -> list[str]:
        return [f"{graph.name}: {each}" for graph in self.graphs for each in graph.fallbacks]

    def __str__(self) -> str:
        if not self.graphs:
            return "no graphs: torch.compile(model, backend=\"luminal\") has compiled nothing yet"
        count = len(self.graphs)
        head = f"{count} graph{'s' * (count > 1)}, {sum(bool(graph.fallbacks) for graph in self.graphs)} run eagerly"
        return "\n".join([head, *(line for graph in self.graphs for line in graph.lines())])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


_all = Report()


def add(graph: GraphReport) -> None:
    _all.graphs.append(graph)


def report() -> Report:
    """The graphs that torch.compile gave to this backend in this process; print() shows them."""
    return Report(list(_all.graphs))


def reset() -> None:
    """Forgets the graphs; torch.compiler.reset() forgets what is compiled."""
    _all.graphs.clear()
