"""`python -m luminal`: the command line."""
import signal
import sys

from luminal._core import run_program


def main() -> int:
    # Ctrl-C ends the program, or what it does about it itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run_program(["luminal", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
