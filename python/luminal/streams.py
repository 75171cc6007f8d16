"""Text as it is written: iterators over what LanguageModel.generate() gives its on_text."""
import asyncio
import atexit
import contextlib
import queue
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from luminal._core import LanguageModel


_writers: dict[threading.Thread, threading.Event] = {}


@atexit.register
def _end_all() -> None:
    """A thread of the library must not outlive the interpreter."""
    for writer, stopped in list(_writers.items()):
        stopped.set()
        writer.join()


class _End:
    """The last item: how it ended."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


def _write(model: LanguageModel, prompt: Any, options: dict[str, Any], put: Callable[[Any], None],
           stopped: threading.Event) -> None:
    def on_text(text: str) -> bool:
        put(text)
        return not stopped.is_set()

    def on_prompt(done: int, total: int) -> bool:
        return not stopped.is_set()

    try:
        model.generate(prompt, on_text=on_text, on_prompt=on_prompt, **options)
    except BaseException as error:  # raised again where it is read
        put(_End(error))
    else:
        put(_End(None))


def _started(model: LanguageModel, prompt: Any, options: dict[str, Any], put: Callable[[Any], None],
             stopped: threading.Event) -> threading.Thread:
    writer = threading.Thread(target=_write, args=(model, prompt, options, put, stopped), daemon=True)
    _writers[writer] = stopped
    writer.start()
    return writer


def stream(model: LanguageModel, prompt: Any, **options: Any) -> Iterator[str]:
    """The pieces of a text, as they are written. Leaving the loop ends the generation.

    The model writes one text at a time: another call of it waits until this one has ended."""
    pieces: queue.Queue[Any] = queue.Queue()
    stopped = threading.Event()
    writer = _started(model, prompt, options, pieces.put, stopped)
    try:
        while not isinstance(piece := pieces.get(), _End):
            yield piece
        if piece.error is not None:
            raise piece.error
    finally:
        stopped.set()
        writer.join()
        _writers.pop(writer, None)


async def astream(model: LanguageModel, prompt: Any, **options: Any) -> AsyncIterator[str]:
    """The same for asyncio: other tasks run while the model writes."""
    pieces: asyncio.Queue[Any] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    stopped = threading.Event()

    def put(piece: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody reads on
            loop.call_soon_threadsafe(pieces.put_nowait, piece)

    writer = _started(model, prompt, options, put, stopped)
    try:
        while not isinstance(piece := await pieces.get(), _End):
            yield piece
        if piece.error is not None:
            raise piece.error
    finally:
        stopped.set()
        await asyncio.to_thread(writer.join)
        _writers.pop(writer, None)
