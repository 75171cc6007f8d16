"""Work in a process of its own, which may crash or hang without ending the script."""
import multiprocessing
import time


def rows_apart(work, arguments, seconds):
    """What `work(*arguments, pipe)` sent before it ended, within these seconds, and how it ended, in words."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(*arguments, theirs))
    process.start()
    theirs.close()
    rows, begin = [], time.monotonic()
    try:
        while ours.poll(max(0.0, begin + seconds - time.monotonic())):
            rows.append(ours.recv())
    except EOFError:
        pass
    else:
        process.kill()
    process.join()
    return rows, f"ended by signal {-process.exitcode}" if process.exitcode else "ended early"
