#!/usr/bin/env python3
"""Writes the seed corpus of fuzz_gguf: small files, good and bad."""
import pathlib
import struct

FOLDER = pathlib.Path(__file__).parent / "corpus" / "gguf"
SIZES = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<B", 10: "<Q", 11: "<q", 12: "<d"}
STRING, ARRAY = 8, 9
# Number: elements and bytes of a block.
TYPES = {0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 12: (256, 144),
         14: (256, 210), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 30: (1, 2)}


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def array(element, values):
    return struct.pack("<IQ", element, len(values)) + b"".join(values)


def entry(key, kind, value):
    return text(key) + struct.pack("<I", kind) + value


def tensor(name, dims, kind, offset):
    return text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, offset)


def file(entries=(), tensors=(), data=b"", alignment=32, version=3):
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(entries)) + b"".join(entries) + b"".join(tensors)
    return head + (b"\0" * (-len(head) % alignment) + data if data else b"")


def seeds():
    yield "empty", file()
    yield "scalars", file([entry(f"k{kind}", kind, struct.pack(form, 1)) for kind, form in SIZES.items()])
    yield "arrays", file([entry(f"a{kind}", ARRAY, array(kind, [struct.pack(form, 1)] * 3))
                          for kind, form in SIZES.items()])
    yield "texts", file([entry("s", STRING, text("grüße")), entry("t", ARRAY, array(STRING, [text("a"), text("")]))])
    yield "nested", file([entry("n", ARRAY, array(ARRAY, [array(ARRAY, [array(0, [b"\1"])]), array(STRING, [])]))])
    tensors, offset, data = [], 0, b""
    for kind, (elements, size) in TYPES.items():
        tensors.append(tensor(f"t{kind}", [elements, 2], kind, offset))
        data += bytes(size * 2) + bytes(-(size * 2) % 32)
        offset = len(data)
    yield "types", file(tensors=tensors, data=data)
    yield "aligned", file([entry("general.alignment", 4, struct.pack("<I", 8))],
                          [tensor("a", [3], 24, 0), tensor("b", [], 0, 8)], bytes(12), alignment=8, version=2)
    yield "overlap", file(tensors=[tensor("a", [40], 24, 0), tensor("b", [4], 24, 32)], data=bytes(64))
    yield "overflow", file(tensors=[tensor("a", [2**62, 4], 24, 0)], data=bytes(64))
    yield "counts", b"GGUF" + struct.pack("<IQQ", 3, 2**64 - 1, 2**64 - 1)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, content in seeds():
        (FOLDER / name).write_bytes(content)


main()
