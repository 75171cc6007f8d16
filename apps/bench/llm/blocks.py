"""The weights of a request as arrays, by Hugging Face's names, for paths that build their own graph."""
import dataclasses
import json
import pathlib

import numpy as np

from .weights import Safetensors, gguf_name, heads_of, read_gguf, swapped_rows

BLOCK = 32


@dataclasses.dataclass
class Blocks:
    """A matrix [rows, columns] quantised in blocks of 32 columns: value = quant · the block's scale."""
    bits: int
    quants: np.ndarray  # int8 [rows, columns / 32, 32]: −8 … 7, or −127 … 127
    scales: np.ndarray  # f16 [rows, columns / 32]

    def f32(self):
        return (self.quants.astype(np.float32) * self.scales.astype(np.float32)[:, :, None]).reshape(len(self.quants), -1)


def read_blocks(kind, dims, data):
    raw = np.frombuffer(data, np.uint8).reshape(dims[0], dims[1] // BLOCK, -1)
    scales = np.ascontiguousarray(raw[:, :, :2]).view("<f2")[:, :, 0]
    body = np.ascontiguousarray(raw[:, :, 2:])
    if kind == "Q8_0":
        return Blocks(8, body.view(np.int8), scales)
    # Q4_0: the first sixteen in the low nibbles; the zero point is 8.
    quants = np.concatenate([body & 15, body >> 4], axis=2).astype(np.int8) - np.int8(8)
    return Blocks(4, quants, scales)


def with_rows(blocks, order):
    return Blocks(blocks.bits, np.ascontiguousarray(blocks.quants[order]), np.ascontiguousarray(blocks.scales[order]))


class RequestWeights:
    """`matrix(name)`: f32, or Blocks for quantised dtypes; `vector(name)`: f32."""

    def __init__(self, request):
        folder = pathlib.Path(request.folder)
        self.shape = json.loads((folder / "config.json").read_text())
        self.floats = Safetensors(folder / "model.safetensors")
        self.tied = self.shape.get("tie_word_embeddings", True)
        self.tensors = read_gguf(request.gguf)[1] if request.dtype.startswith("q") else None

    def vector(self, name):
        return self.floats.f32(name)

    def matrix(self, name):
        if self.tensors is None:
            return self.floats.f32(name)
        kind, dims, data = self.tensors[gguf_name(name)]
        blocks, heads = read_blocks(kind, dims, data), heads_of(name, self.shape)
        if heads is None:
            return blocks
        return with_rows(blocks, swapped_rows(np.arange(dims[0])[:, None], heads, to_gguf=False)[:, 0])

    def embedding(self):
        """f32: only single rows are read."""
        table = self.matrix("model.embed_tokens.weight")
        return table.f32() if isinstance(table, Blocks) else table

    def head(self):
        return self.matrix("model.embed_tokens.weight" if self.tied else "lm_head.weight")
