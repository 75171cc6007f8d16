#!/usr/bin/env python3
"""Writes the seed corpus of fuzz_safetensors: small files, headers and indices, good and bad."""
import json
import pathlib
import struct

FOLDER = pathlib.Path(__file__).parent / "corpus" / "safetensors"
DTYPES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1,
          "BOOL": 1, "U16": 2, "F8_E4M3": 1}


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def headers():
    """Header and how many bytes of data it describes."""
    yield "empty", {}, 0
    yield "one", {"w": entry("F32", [2, 3], 0, 24)}, 24
    yield "scalar", {"s": entry("F32", [], 0, 4)}, 4
    yield "zero", {"z": entry("F32", [0, 5], 0, 0), "a": entry("I8", [3], 0, 3)}, 3
    yield "metadata", {"__metadata__": {"format": "pt", "é": "\u0001"}, "b": entry("BOOL", [2], 0, 2)}, 2
    yield "subbyte", {"f": entry("F4", [2, 2], 0, 2), "u": entry("WHAT", [1], 2, 9)}, 9
    yield "hole", {"a": entry("I8", [1], 0, 1), "b": entry("I8", [1], 2, 3)}, 3
    yield "overlap", {"a": entry("I8", [2], 0, 2), "b": entry("I8", [2], 1, 3)}, 3
    yield "overflow", {"a": entry("I8", [2**62, 4, 0], 0, 0)}, 0
    every, offset = {}, 0
    for dtype, size in DTYPES.items():
        every[dtype.lower()] = entry(dtype, [2], offset, offset + 2 * size)
        offset += 2 * size
    yield "dtypes", every, offset


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, header, size in headers():
        text = json.dumps(header, separators=(",", ":")).encode()
        padded = text + b" " * (-len(text) % 8)
        data = bytes(i % 2 for i in range(size))
        (FOLDER / f"file_{name}").write_bytes(struct.pack("<Q", len(padded)) + padded + data)
        (FOLDER / f"header_{name}").write_bytes(text + struct.pack("<H", size))
    index = {"metadata": {"total_size": 24, "more": [1, 2.5, None, True, {"deep": "x"}]},
             "weight_map": {"w": "model-00001-of-00002.safetensors", "v": "sub/model.safetensors"}}
    (FOLDER / "index_good").write_bytes(json.dumps(index).encode())
    index["weight_map"]["w"] = "../../etc/passwd"
    (FOLDER / "index_escape").write_bytes(json.dumps(index).encode())
    (FOLDER / "nested").write_bytes(b"[" * 200)
    (FOLDER / "length").write_bytes(struct.pack("<Q", 2**64 - 1))


main()
