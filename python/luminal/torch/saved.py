"""Compiled graphs that torch._dynamo.aot_compile saves: their records, from which they are compiled again where they are loaded."""
import dataclasses
from typing import Any

from torch._inductor.output_code import OutputCode

from luminal.torch.records import Recording
from luminal.torch.report import GraphReport, add as add_report


@dataclasses.dataclass
class SavedGraph(OutputCode):
    """What AOTAutograd calls; without the compiled code where it was just loaded."""

    recording: Recording
    options: dict[str, Any]
    name: str
    kind: str
    run: Any = None

    def __post_init__(self) -> None:
        self._boxed_call = True  # of the object: wrappers copy its attributes

    def __call__(self, inputs: Any) -> Any:
        return self.run(inputs)

    def prepare_for_serialization(self) -> None:
        """Called on a copy."""
        self.run = None

    def post_compile(self, *unused: Any, **options: Any) -> None:
        if self.run is not None:
            return
        from luminal.torch.backend import build, describe  # which imports this file

        report = GraphReport(f"{self.name}, loaded", self.kind)
        describe(self.recording, report)
        self.run = build(self.recording, self.options, report)
        add_report(report)

    def set_triton_bundle(self, triton_bundle: Any) -> None:
        """There are none."""
