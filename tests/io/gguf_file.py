"""Writes GGUF files: write(path, metadata, tensors); and reads them back, trusting them: read(path)."""
import math
import struct

import numpy as np

from gguf_blocks import TYPES

NAMES = {number: (name, elements, size) for name, (number, elements, size) in TYPES.items()}
FORMS = {"u8": "<B", "i8": "<b", "u16": "<H", "i16": "<h", "u32": "<I", "i32": "<i", "f32": "<f", "bool": "<?",
         "string": None, "array": None, "u64": "<Q", "i64": "<q", "f64": "<d"}
KINDS = list(FORMS)  # in the order of their numbers


def text(value):
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data)) + data


def value_bytes(kind, value):
    """kind: a name of KINDS, or ("array", kind of the elements)."""
    if isinstance(kind, tuple):
        element = kind[1]
        number = KINDS.index(element if isinstance(element, str) else "array")
        return struct.pack("<IQ", number, len(value)) + b"".join(value_bytes(element, item) for item in value)
    return text(value) if kind == "string" else struct.pack(FORMS[kind], value)


def write(path, metadata, tensors, alignment=32, version=3):
    """metadata: {key: (kind, value)}; tensors: {name: (type, dims outermost first, bytes or a function that gives them)}.

    A function is called when its turn comes, so that a large file needs the memory of one tensor.
    """
    head = [b"GGUF", struct.pack("<IQQ", version, len(tensors), len(metadata))]
    for key, (kind, value) in metadata.items():
        number = KINDS.index(kind if isinstance(kind, str) else "array")
        head += [text(key), struct.pack("<I", number), value_bytes(kind, value)]
    offset = 0
    for name, (kind, dims, _) in tensors.items():
        number, elements, size = TYPES[kind]
        head += [text(name), struct.pack(f"<I{len(dims)}QIQ", len(dims), *reversed(dims), number, offset)]
        n_bytes = math.prod(dims) // elements * size
        offset += n_bytes + -n_bytes % alignment
    with open(path, "wb") as file:
        file.write(b"".join(head))
        file.write(b"\0" * (-file.tell() % alignment))
        for _, _, data in tensors.values():
            content = data() if callable(data) else data
            file.write(content)
            file.write(b"\0" * (-len(content) % alignment))


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def numbers(self, form, count=1):
        values = np.frombuffer(self.data, form, count, self.at)
        self.at += values.nbytes
        return values

    def text(self):
        size = int(self.numbers("<u8")[0])
        self.at += size
        return self.data[self.at - size:self.at]

    def value(self, kind):
        if kind == "string":
            return self.text()
        if kind == "array":
            element = KINDS[int(self.numbers("<u4")[0])]
            count = int(self.numbers("<u8")[0])
            if FORMS[element]:
                return self.numbers(FORMS[element], count)
            return [self.value(element) for _ in range(count)]
        return self.numbers(FORMS[kind])[0]


def read(path):
    """(metadata, tensors) as write() takes them, with kinds left out."""
    with open(path, "rb") as file:
        reader = Reader(file.read())
    reader.at = 8
    n_tensors, n_entries = (int(count) for count in reader.numbers("<u8", 2))
    metadata = {}
    for _ in range(n_entries):
        key = reader.text().decode()
        metadata[key] = reader.value(KINDS[int(reader.numbers("<u4")[0])])
    places = []
    for _ in range(n_tensors):
        name = reader.text().decode()
        dims = [int(dim) for dim in reader.numbers("<u8", int(reader.numbers("<u4")[0]))][::-1]
        kind = NAMES[int(reader.numbers("<u4")[0])]
        places.append((name, dims, kind, int(reader.numbers("<u8")[0])))
    alignment = int(metadata.get("general.alignment", 32))
    start = reader.at + -reader.at % alignment
    tensors = {}
    for name, dims, (kind, elements, size), offset in places:
        n_bytes = math.prod(dims) // elements * size
        tensors[name] = (kind, dims, reader.data[start + offset:start + offset + n_bytes])
    return metadata, tensors
