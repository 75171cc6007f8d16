"""The library's tables beside the regular expressions of the tokenizers wheel, code point by code point.

usage: unicode_test.py TABLES [--all]

Without --all only the blocks that Unicode assigns, with the borders of the others: a fifth of all code points.
"""
import json
import subprocess
import sys

try:
    from tokenizers import Regex, normalizers, pre_tokenizers
except ImportError as error:
    print(f"SKIPPED: {error}; run tools/install-deps.sh --test")
    sys.exit(77)
import unicodedata

UNASSIGNED = range(0x33480, 0xE0000), range(0xE0200, 0xF0000), range(0xF0010, 0x10FFF0)


def is_looked_at(c):
    return not 0xD800 <= c < 0xE000 and ("--all" in sys.argv or not any(c in block for block in UNASSIGNED))


CODE_POINTS = [c for c in range(0x110000) if is_looked_at(c)]
LOOKED_AT = set(CODE_POINTS)
TEXT = "".join(map(chr, CODE_POINTS))
PATTERNS = [rf"\p{{{name}}}" for name in "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs L N P M S Z Han".split()]
PATTERNS += [r"\s", r"\S", r"\d", r"[^\s\p{L}\p{N}]", r"(?i:s)", r"(?i:k)", r"[a-zé-ü&&[^b-d]]", r"\x{1F600}"]
FORMS = ["NFC", "NFD", "NFKC", "NFKD", "lower"]


def matching(pattern):
    found = pre_tokenizers.Split(Regex(pattern), "removed", invert=True).pre_tokenize_str(TEXT)
    return [c for _, (begin, end) in found for c in CODE_POINTS[begin:end]]


def ranges(values):
    out = []
    for value in values:
        if out and out[-1][1] == value - 1:
            out[-1][1] = value
        else:
            out.append([value, value])
    return out


def main():
    failed = 0
    lines = subprocess.run([sys.argv[1], *PATTERNS], capture_output=True, text=True, check=True).stdout.splitlines()
    for line in lines:
        row = json.loads(line)
        if "pattern" in row:
            expected = ranges(matching(row["pattern"]))
            found = ranges(c for first, last in row["ranges"] for c in range(first, last + 1) if c in LOOKED_AT)
            if found != expected:
                failed += 1
                wrong = [r for r in found + expected if (r in found) != (r in expected)]
                print(f"{row['pattern']} differs, first at {[hex(x) for x in wrong[0]]}")
        else:
            for c, text in row["mapped"]:
                # Python's tables are older: what they don't know isn't judged.
                if unicodedata.category(chr(c)) == "Cn":
                    continue
                form = row["form"]
                expected = chr(c).lower() if form == "lower" else unicodedata.normalize(form, chr(c))
                if text != expected:
                    failed += 1
                    print(f"{form} of {c:#x} is {text!r}, not {expected!r}")
    print(f"{len(lines)} tables, {failed} differ")
    sys.exit(1 if failed or len(lines) != len(PATTERNS) + len(FORMS) else 0)


main()
