"""The other side of gguf_blocks_test's comparison: files of every type, and their exact values.

`write FOLDER` makes blocks.gguf and, for each tensor, NAME.f32 with its values; `sums FILE OUTPUT` writes a line with
the name and a checksum of the values for each tensor of any file.
"""
import pathlib
import sys

try:
    import numpy as np
    from gguf_blocks import ENCODERS, TYPES, decode, encode
    from gguf_file import read, write
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

# Where each block of a type holds f16 numbers: random ones must be finite.
HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q4_K": [0, 2], "Q5_K": [0, 2],
          "Q6_K": [208]}


def random_blocks(kind, count, random):
    """Any bits at all, also those that no encoder writes: negative scales, subnormals, unused quants."""
    blocks = random.integers(0, 256, (count, TYPES[kind][2]), np.uint8)
    for place in HALVES[kind]:
        blocks[:, place + 1] &= 0xbf  # the exponent's upper bit
    return blocks.tobytes()


def make_file(folder):
    random = np.random.default_rng(7)
    tensors = {}
    for kind, (_, elements, _) in TYPES.items():
        dims = [3, 2 * elements] if elements > 1 else [3, 5]
        scale = 1 if kind[0] == "F" or kind == "BF16" or kind in ENCODERS else 100
        values = (random.standard_normal(dims) * scale).astype(np.float32)
        data = encode(kind, values)
        tensors[f"{kind}.encoded"] = (kind, dims, data)
        if kind in ENCODERS:
            # An encoder that is wrong would still decode to something: it must be near.
            error = np.abs(decode(kind, data, dims) - values).max()
            assert error < (0.5 if "4" in kind else 0.25), (kind, error)
            tensors[f"{kind}.zeros"] = (kind, dims, encode(kind, np.zeros(dims)))
            tensors[f"{kind}.random"] = (kind, [2, 2, 4 * elements], random_blocks(kind, 16, random))
    write(folder / "blocks.gguf", {"general.architecture": ("string", "none")}, tensors)


def check_against_package(kind, data, dims, values):
    """The package 'gguf' is a third opinion where it is installed."""
    try:
        import gguf
    except ImportError:
        return
    blocks = np.frombuffer(data, np.uint8).reshape(*dims[:-1], -1)
    theirs = gguf.quants.dequantize(blocks, gguf.GGMLQuantizationType[kind])
    assert np.array_equal(theirs.view(np.uint32), values.view(np.uint32)), kind


def values_of(path):
    _, tensors = read(path)
    for name, (kind, dims, data) in sorted(tensors.items()):
        values = decode(kind, data, dims)
        if kind in ENCODERS:
            check_against_package(kind, data, dims, values)
        yield name, values


def checksum(values):
    """The sum of each value's bits times an odd number of its own, modulo 2^64."""
    bits = values.reshape(-1).view(np.uint32).astype(np.uint64)
    return int((bits * (np.arange(bits.size, dtype=np.uint64) * np.uint64(2) + np.uint64(1))).sum(dtype=np.uint64))


if sys.argv[1] == "write":
    target = pathlib.Path(sys.argv[2])
    make_file(target)
    for tensor, exact in values_of(target / "blocks.gguf"):
        exact.tofile(target / f"{tensor}.f32")
else:
    pathlib.Path(sys.argv[3]).write_text("".join(f"{tensor} {checksum(exact)}\n"
                                                 for tensor, exact in values_of(sys.argv[2])))
