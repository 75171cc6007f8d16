"""Compares the engine's BigInt primitives with Python's integers.

bigint_compare.py EGG_RUN: a random program of a few thousand calls, from a fixed seed.
"""

import operator
import random
import subprocess
import sys
import tempfile

BINARY = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "min": min,
    "max": max,
    "/": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "%": lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
}


def random_number(source):
    bits = source.choice([0, 1, 8, 31, 32, 33, 64, 65, 127, 200, 1000])
    number = source.getrandbits(bits) if bits else 0
    if source.random() < 0.3:  # long runs of ones and zeros, where carries go far
        number = (1 << bits) - source.getrandbits(2)
    return number if source.random() < 0.5 else -number


def text_of(number):
    return f'(from-string "{number}")'


def main():
    source = random.Random(1)
    lines, expected = [], []
    for _ in range(3000):
        a, b = random_number(source), random_number(source)
        name = source.choice(list(BINARY))
        if name in "/%" and b == 0:
            continue
        lines.append(f"(extract ({name} {text_of(a)} {text_of(b)}))")
        expected.append(text_of(BINARY[name](a, b)))
        count = source.randrange(200)
        lines.append(f"(extract (<< {text_of(a)} {count}))")
        expected.append(text_of(a << count))
        lines.append(f"(extract (>> {text_of(a)} {count}))")
        expected.append(text_of(a >> count))
        lines.append(f"(extract (not-Z {text_of(a)}))")
        expected.append(text_of(~a))
        lines.append(f"(extract (bits {text_of(a)}))")
        expected.append(text_of(abs(a).bit_length()))
        lines.append(f"(extract (bool-< {text_of(a)} {text_of(b)}))")
        expected.append("true" if a < b else "false")
    with tempfile.NamedTemporaryFile("w", suffix=".egg") as program:
        program.write("\n".join(lines))
        program.flush()
        run = subprocess.run([sys.argv[1], program.name], capture_output=True, text=True, check=True)
    found = run.stdout.splitlines()
    assert len(found) == len(expected), f"{len(found)} outputs where {len(expected)} were expected"
    failures = 0
    for line, ours, python in zip(lines, found, expected):
        if ours != python:
            failures += 1
            print(f"{line}: {ours}, but Python says {python}")
    print(f"{len(expected) - failures} of {len(expected)} results agree with Python")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
