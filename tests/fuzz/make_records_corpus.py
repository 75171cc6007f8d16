#!/usr/bin/env python3
"""Writes the seed corpus of fuzz_records: lines of each kind, good and bad. Sums are those of the library, since a
mutation can't guess them."""
import pathlib

FOLDER = pathlib.Path(__file__).parent / "corpus" / "records"
HEADER = '{"luminal_records": 1}\n'
GOOD = [
    ('{"kind": "kernel", "kernel": "k", "device": "d", "compiler": "c", "seconds": 0.001, "low": 9e-04, "h'
     'igh": 0.0012, "samples": 10, "checked": true, "note": "n", "sum": "721e3d44c7e5da5ee34282267ef2cd757'
     '662d1dfdd21d9f82968f543cdc53740"}\n'),
    ('{"kind": "plan", "question": {"hex": "7100ff"}, "device": "d", "compiler": "c", "plan": {"bytes": "p'
     'lan", "rank": 2, "sum": "f353090db87345d8b6714de24b252a2eeabb0d810d2f1009d6310212e6b16909"}, "compar'
     'isons": [{"champion": "a", "challenger": "b", "ratio": 1.5, "low": 1.25, "high": 2.0, "rounds": 7, "'
     'sum": "5946d06d32cc5951e69169fbea3e4fdeb9b5ee118e6dbf2f6a5684fef8b55523"}]}\n'),
    ('{"kind": "device", "fingerprint": "b68db01e03d87894b27f281f550d10ce58ff41e4a8df04b25d69c67d47e053bf"'
     ', "description": "a processor"}\n'),
]
SEEDS = {
    "header": HEADER,
    "newer": '{"luminal_records": 2}\n',
    "no_sum": HEADER + '{"kind": "kernel", "kernel": "k", "device": "d", "compiler": "c", "seconds": 0.001}\n',
    "negative": HEADER + '{"kind": "kernel", "kernel": "k", "device": "d", "compiler": "c", "seconds": -1.0, "low": -2.0, '
                         '"high": 0.0, "samples": 3, "checked": true, "note": "", "sum": "0"}\n',
    "hex": HEADER + '{"kind": "plan", "question": {"hex": "00ff"}, "device": "d", "compiler": "c", "comparisons": []}\n',
    "deep": HEADER + '{"kind": [[[[[[]]]]]]}\n',
    "open": HEADER + '{"kind": "kernel", "kernel": "',
    "kernel": HEADER + GOOD[0],
    "plan": HEADER + GOOD[1],
    "device": HEADER + GOOD[2],
    "good": HEADER + "".join(GOOD),
}


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in SEEDS.items():
        (FOLDER / name).write_text(text)


main()
