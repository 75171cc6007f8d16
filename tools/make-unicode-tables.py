#!/usr/bin/env python3
"""Writes luminal/text/unicode/unicode_tables.inc: categories, lower case, decompositions and compositions.

Unicode 16.0, which is what the `\\p{…}` of the tokenizers wheel knows; it needs the package of that version:
python3 -m pip install unicodedata2==16.0.0
"""
import argparse
import pathlib
import sys
import unicodedata

import unicodedata2 as unicode

VERSION = "16.0.0"
CATEGORIES = "Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cs".split()
HANGUL = range(0xAC00, 0xAC00 + 11172)
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def lower(c):
    """Of Python's own tables; letters that these lack are found by their names."""
    text = chr(c).lower()
    if unicodedata.category(chr(c)) == "Cn" and unicode.category(chr(c)) == "Lu":
        try:
            return unicode.lookup(unicode.name(chr(c)).replace("CAPITAL", "SMALL"))
        except (KeyError, ValueError):
            pass
    return text


def runs(value_of, default):
    """(first code point, value) wherever the value changes."""
    found, last = [], default
    for c in range(0x110000):
        value = value_of(c)
        if value != last:
            found.append((c, value))
            last = value
    return found


def array(kind, name, values):
    text = f"constexpr {kind} {name}[] = {{"
    line = ""
    for value in values:
        piece = f"{value:#x}," if isinstance(value, int) else value + ","
        if len(line) + len(piece) > 118:
            text += "\n" + line
            line = ""
        line += piece
    return text + "\n" + line + "};\n"


def mapping(name, entries):
    """Entries (code point, text): keys with the place of their text in a pool, which ends where the next begins."""
    pool, keys = [], []
    for c, text in entries:
        keys.append("{%#x,%d}" % (c, len(pool)))
        pool += [ord(x) for x in text]
    keys.append("{0x110000,%d}" % len(pool))
    return array("MappedFrom", f"k{name}Keys", keys) + array("char32_t", f"k{name}Pool", pool)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", default=pathlib.Path(__file__).parent.parent / "luminal/text/unicode/unicode_tables.inc")
    output = parser.parse_args().output
    if unicode.unidata_version != VERSION:
        sys.exit(f"make-unicode-tables: unicodedata2 is {unicode.unidata_version}, not {VERSION}")

    category = runs(lambda c: CATEGORIES.index(unicode.category(chr(c))), 0)
    combining = runs(lambda c: unicode.combining(chr(c)), 0)
    letters = [(c, lower(c)) for c in CODE_POINTS if lower(c) != chr(c)]
    canonical = [(c, unicode.normalize("NFD", chr(c))) for c in CODE_POINTS
                 if c not in HANGUL and unicode.normalize("NFD", chr(c)) != chr(c)]
    compatible = [(c, unicode.normalize("NFKD", chr(c))) for c in CODE_POINTS
                  if c not in HANGUL and unicode.normalize("NFKD", chr(c)) != unicode.normalize("NFD", chr(c))]
    composed = []
    for c, _ in canonical:
        parts = unicode.decomposition(chr(c)).split()
        if len(parts) == 2 and unicode.normalize("NFC", chr(c)) == chr(c):
            composed.append((int(parts[0], 16), int(parts[1], 16), c))
    with open(output, "w", encoding="ascii") as file:
        file.write(f"// Unicode {VERSION}, written by tools/make-unicode-tables.py, which writes it in one piece: don't edit.\n")
        # A run is its first code point and, in the lowest byte, its value.
        file.write(array("uint32_t", "kCategoryRuns", [c << 8 | value for c, value in category]))
        file.write(array("uint32_t", "kCombiningRuns", [c << 8 | value for c, value in combining]))
        file.write(mapping("Lower", letters))
        file.write(mapping("Canonical", canonical))
        file.write(mapping("Compatible", compatible))
        file.write(array("Composition", "kCompositions", ["{%#x,%#x,%#x}" % entry for entry in sorted(composed)]))


main()
