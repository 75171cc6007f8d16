"""GGUF's block formats in numpy: encode() rows of floats as blocks, decode() blocks to their exact f32 values.

Written from the format's description and not from the reader it tests. Encoders round to nearest within each block;
they don't search for better scales.
"""
import numpy as np

# Name: the type's number, elements and bytes of a block.
TYPES = {"F32": (0, 1, 4), "F16": (1, 1, 2), "Q4_0": (2, 32, 18), "Q4_1": (3, 32, 20), "Q5_0": (6, 32, 22),
         "Q5_1": (7, 32, 24), "Q8_0": (8, 32, 34), "Q4_K": (12, 256, 144), "Q5_K": (13, 256, 176),
         "Q6_K": (14, 256, 210), "I8": (24, 1, 1), "I16": (25, 1, 2), "I32": (26, 1, 4), "I64": (27, 1, 8),
         "F64": (28, 1, 8), "BF16": (30, 1, 2)}
F16 = np.dtype("<f2")
F32 = np.float32


def as_f16(values):
    """f16 as [blocks, 2] bytes, and what f16 makes of the values."""
    halves = np.asarray(values, F32).astype(F16)
    return halves.reshape(-1, 1).view(np.uint8), halves.astype(F32).reshape(-1)


def safe(divisors):
    return np.where(divisors == 0, F32(1), divisors)


def to_quants(values, scales, low, high):
    return np.clip(np.rint(values / safe(scales)[:, None]), low, high)


def pack_halves(quants):
    """[blocks, 32] of four bits: the first sixteen in the low halves."""
    quants = quants.astype(np.uint8)
    return quants[:, :16] | quants[:, 16:] << 4


def pack_fifth_bits(quants):
    return np.packbits(quants.astype(np.uint8) >> 4, axis=1, bitorder="little")


def encode_signed(rows, bits):
    """Q4_0, Q5_0: a scale; quants around the middle."""
    middle = 1 << (bits - 1)
    extreme = np.take_along_axis(rows, np.argmax(np.abs(rows), axis=1)[:, None], axis=1)[:, 0]
    head, scales = as_f16(extreme / -middle)
    quants = to_quants(rows, scales, -middle, middle - 1) + middle
    parts = [head] + ([pack_fifth_bits(quants)] if bits == 5 else [])
    return np.hstack(parts + [pack_halves(quants.astype(np.uint8) & 15)])


def encode_ranged(rows, bits):
    """Q4_1, Q5_1: a scale and a minimum."""
    low = rows.min(axis=1)
    head, scales = as_f16((rows.max(axis=1) - low) / ((1 << bits) - 1))
    low_bytes, low = as_f16(low)
    quants = to_quants(rows - low[:, None], scales, 0, (1 << bits) - 1)
    parts = [head, low_bytes] + ([pack_fifth_bits(quants)] if bits == 5 else [])
    return np.hstack(parts + [pack_halves(quants.astype(np.uint8) & 15)])


def encode_q8_0(rows):
    head, scales = as_f16(np.abs(rows).max(axis=1) / 127)
    return np.hstack([head, to_quants(rows, scales, -127, 127).astype(np.int8).view(np.uint8)])


def pack_six_bits(scales, minima):
    """[blocks, 8] each, into twelve bytes."""
    packed = np.zeros((len(scales), 12), np.uint8)
    packed[:, 0:4] = scales[:, :4] | (scales[:, 4:] >> 4) << 6
    packed[:, 4:8] = minima[:, :4] | (minima[:, 4:] >> 4) << 6
    packed[:, 8:12] = (scales[:, 4:] & 15) | (minima[:, 4:] & 15) << 4
    return packed


def encode_k(rows, bits):
    """Q4_K, Q5_K: eight sub-blocks, their scales and minima in six bits."""
    most = (1 << bits) - 1
    parts = rows.reshape(len(rows), 8, 32)
    minima = np.maximum(-parts.min(axis=2), 0)
    scales = (parts.max(axis=2) + minima) / most
    scale_bytes, scale_unit = as_f16(scales.max(axis=1) / 63)
    minimum_bytes, minimum_unit = as_f16(minima.max(axis=1) / 63)
    scale_six = to_quants(scales, scale_unit, 0, 63).astype(np.uint8)
    minimum_six = to_quants(minima, minimum_unit, 0, 63).astype(np.uint8)
    scales, minima = scale_six * scale_unit[:, None], minimum_six * minimum_unit[:, None]
    quants = np.clip(np.rint((parts + minima[:, :, None]) / safe(scales)[:, :, None]), 0, most).astype(np.uint8)
    low = (quants & 15).reshape(len(rows), 4, 2, 32)
    packed = (low[:, :, 0] | low[:, :, 1] << 4).reshape(len(rows), 128)
    high = np.packbits(quants >> 4, axis=1, bitorder="little").reshape(len(rows), 32)
    fifth = [high] if bits == 5 else []
    return np.hstack([scale_bytes, minimum_bytes, pack_six_bits(scale_six, minimum_six)] + fifth + [packed])


def encode_q6_k(rows):
    parts = rows.reshape(len(rows), 16, 16)
    scales = np.abs(parts).max(axis=2) / 31
    unit_bytes, unit = as_f16(scales.max(axis=1) / 127)
    scale_i8 = to_quants(scales, unit, 0, 127).astype(np.int8)
    scales = scale_i8 * unit[:, None]
    quants = (np.clip(np.rint(parts / safe(scales)[:, :, None]), -32, 31) + 32).astype(np.uint8)
    groups = quants.reshape(len(rows), 2, 4, 32)  # two halves of four groups
    low, high = groups & 15, groups >> 4
    low_bytes = np.concatenate([low[:, :, 0] | low[:, :, 2] << 4, low[:, :, 1] | low[:, :, 3] << 4], axis=2)
    high_bytes = high[:, :, 0] | high[:, :, 1] << 2 | high[:, :, 2] << 4 | high[:, :, 3] << 6
    count = len(rows)
    return np.hstack([low_bytes.reshape(count, 128), high_bytes.reshape(count, 64), scale_i8.view(np.uint8), unit_bytes])


ENCODERS = {"Q4_0": lambda rows: encode_signed(rows, 4), "Q5_0": lambda rows: encode_signed(rows, 5),
            "Q4_1": lambda rows: encode_ranged(rows, 4), "Q5_1": lambda rows: encode_ranged(rows, 5),
            "Q8_0": encode_q8_0, "Q4_K": lambda rows: encode_k(rows, 4), "Q5_K": lambda rows: encode_k(rows, 5),
            "Q6_K": encode_q6_k}


def encode(kind, values):
    """The bytes of a tensor of this type; blocks run along the last axis."""
    values = np.ascontiguousarray(values, F32)
    if kind == "BF16":
        bits = values.view(np.uint32)
        return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype("<u2").tobytes()
    if kind not in ENCODERS:
        plain = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8"}
        return values.astype(plain[kind]).tobytes()
    blocks = ENCODERS[kind](values.reshape(-1, TYPES[kind][1]))
    assert blocks.shape[1] == TYPES[kind][2], (kind, blocks.shape)
    return np.ascontiguousarray(blocks, np.uint8).tobytes()


def bits_of(packed, count):
    """Little-endian bits of each row."""
    return np.unpackbits(packed, axis=1, bitorder="little")[:, :count]


def half(blocks, place):
    return np.ascontiguousarray(blocks[:, place:place + 2]).view(F16).astype(F32)


def decode_small(kind, blocks):
    ranged, bits = kind.endswith("_1"), int(kind[1])
    place = 4 if ranged else 2
    fifth = np.zeros((len(blocks), 32), np.uint8)
    if bits == 5:
        fifth, place = bits_of(blocks[:, place:place + 4], 32), place + 4
    packed = blocks[:, place:place + 16]
    quants = (np.hstack([packed % 16, packed // 16]) + 16 * fifth).astype(F32)
    if ranged:
        return quants * half(blocks, 0) + half(blocks, 2)
    return (quants - (1 << (bits - 1))) * half(blocks, 0)


def six_bit_numbers(packed):
    """Scales and minima out of twelve bytes: [blocks, 8] each."""
    first, second, third = packed[:, 0:4], packed[:, 4:8], packed[:, 8:12]
    scales = np.hstack([first % 64, third % 16 + first // 64 * 16])
    minima = np.hstack([second % 64, third // 16 + second // 64 * 16])
    return scales.astype(F32), minima.astype(F32)


def decode_k(kind, blocks):
    count = len(blocks)
    scales, minima = six_bit_numbers(blocks[:, 4:16])
    scales, minima = half(blocks, 0) * scales, half(blocks, 2) * minima
    packed = blocks[:, -128:].reshape(count, 4, 1, 32)
    quants = np.concatenate([packed % 16, packed // 16], axis=2).reshape(count, 8, 32).astype(F32)
    if kind == "Q5_K":
        fifth = bits_of(blocks[:, 16:48].reshape(-1, 1), 8).reshape(count, 32, 8).transpose(0, 2, 1)
        quants += F32(16) * fifth
    return quants * scales[:, :, None] - minima[:, :, None]


def decode_q6_k(blocks):
    count = len(blocks)
    low = blocks[:, :128].reshape(count, 2, 2, 32)
    high = blocks[:, 128:192].reshape(count, 2, 1, 32)
    low = np.concatenate([low % 16, low // 16], axis=2)
    high = np.concatenate([high // 4**group % 4 for group in range(4)], axis=2)
    quants = (low + 16 * high).reshape(count, 16, 16).astype(F32) - F32(32)
    scales = half(blocks, 208) * np.ascontiguousarray(blocks[:, 192:208]).view(np.int8).astype(F32)
    return quants * scales[:, :, None]


def decode(kind, data, dims):
    """The exact f32 values of a tensor's bytes."""
    if kind == "BF16":
        return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(F32).reshape(dims)
    if kind not in ENCODERS:
        plain = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8"}
        return np.frombuffer(data, plain[kind]).astype(F32).reshape(dims)
    blocks = np.frombuffer(data, np.uint8).reshape(-1, TYPES[kind][2])
    if kind == "Q8_0":
        values = np.ascontiguousarray(blocks[:, 2:]).view(np.int8).astype(F32) * half(blocks, 0)
    elif kind == "Q6_K":
        values = decode_q6_k(blocks)
    elif kind.endswith("_K"):
        values = decode_k(kind, blocks)
    else:
        values = decode_small(kind, blocks)
    return values.astype(F32).reshape(dims)
