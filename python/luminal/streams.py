"""Text as it is written: iterators over what LanguageModel.generate() gives its on_text."""
import asyncio
import queue
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from luminal._core import LanguageModel


class _End:
    """The last item: how it ended."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


def _write(model: LanguageModel, prompt: Any, options: dict[str, Any], put: Callable[[Any], None],
           stopped: threading.Event) -> None:
    def on_text(text: str) -> bool:
        put(text)
        return not stopped.is_set()

    try:
        model.generate(prompt, on_text=on_text, **options)
    except BaseException as error:  # raised again where it is read
        put(_End(error))
    else:
        put(_End(None))


def stream(model: LanguageModel, prompt: Any, **options: Any) -> Iterator[str]:
    """The pieces of a text, as they are written. Leaving the loop ends the generation."""
    pieces: queue.Queue[Any] = queue.Queue()
    stopped = threading.Event()
    writer = threading.Thread(target=_write, args=(model, prompt, options, pieces.put, stopped), daemon=True)
    writer.start()
    try:
        while not isinstance(piece := pieces.get(), _End):
            yield piece
        if piece.error is not None:
            raise piece.error
    finally:
        stopped.set()
        writer.join()


async def astream(model: LanguageModel, prompt: Any, **options: Any) -> AsyncIterator[str]:
    """The same for asyncio: other tasks run while the model writes."""
    pieces: asyncio.Queue[Any] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    stopped = threading.Event()

    def put(piece: Any) -> None:
        loop.call_soon_threadsafe(pieces.put_nowait, piece)

    writer = threading.Thread(target=_write, args=(model, prompt, options, put, stopped), daemon=True)
    writer.start()
    try:
        while not isinstance(piece := await pieces.get(), _End):
            yield piece
        if piece.error is not None:
            raise piece.error
    finally:
        stopped.set()
        await asyncio.to_thread(writer.join)
