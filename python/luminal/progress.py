"""Progress of long compiles: a line on a terminal, a display in a notebook, nothing elsewhere."""
import shutil
import sys
from typing import Any

_display: Any = None


def text_of(stage: str, done: int, total: int, text: str, seconds_left: float) -> str:
    """The line that is shown."""
    parts = [f"luminal: {stage}"]
    if total > 0:
        parts.append(f"{done} of {total}")
    if seconds_left >= 0:
        parts.append(f"{seconds_left:.0f} s left")
    if text:
        parts.append(text)
    return ", ".join(parts)


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    running = shell.get_ipython()
    return running is not None and type(running).__name__ == "ZMQInteractiveShell"


def show(stage: str, done: int, total: int, text: str, seconds_left: float) -> None:
    """Called by the compiler, from the third second on."""
    global _display
    line = text_of(stage, done, total, text, seconds_left)
    if _in_notebook():
        from IPython.display import display  # type: ignore[import-not-found]

        if _display is None:
            _display = display({"text/plain": line}, raw=True, display_id=True)
        else:
            _display.update({"text/plain": line}, raw=True)
    elif sys.stderr is not None and sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write("\r\x1b[K" + line[:width])
        sys.stderr.flush()


def clear() -> None:
    """Called at the end of a compile that showed something."""
    global _display
    if _display is not None:
        _display.update({"text/plain": ""}, raw=True)
        _display = None
    elif sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
