"""The weights of a model, created once for all paths: a folder in Hugging Face's layout, and GGUF files made from it.

The folder holds bf16, from a file with real weights or from random numbers seeded by the position in the list. Files of
other types hold the folder's values, rounded; equal settings give equal bytes.
"""
import json
import math
import os
import shutil
import struct

import numpy as np

from . import random_llama  # sets the path of the next two imports
from .settings import SettingsError

from gguf_blocks import decode, encode
from gguf_file import read as read_gguf, write as write_gguf

FORM = 1  # format version, part of file names, so that old files are never used
MEMORY_SHARE = 1 / 3  # of memory for weights: a path may hold them twice, and in a wider dtype
# GGUF keys and the fields of config.json they correspond to.
NUMBERS = {"embedding_length": "hidden_size", "feed_forward_length": "intermediate_size",
           "block_count": "num_hidden_layers", "attention.head_count": "num_attention_heads",
           "attention.head_count_kv": "num_key_value_heads", "attention.key_length": "head_dim",
           "attention.value_length": "head_dim", "rope.dimension_count": "head_dim",
           "context_length": "max_position_embeddings", "vocab_size": "vocab_size"}
NAMES = {ours: theirs for ours, theirs, _ in random_llama.LAYER}


def n_bytes(shape):
    """Bytes of the weights in bf16."""
    return 2 * sum(math.prod(dims) for _, dims in random_llama.weights(shape, gguf=False))


def fitted(shape, memory_total):
    """The shape with as many layers as memory allows, and a note if those aren't all."""
    budget, layers = memory_total * MEMORY_SHARE, shape["num_hidden_layers"]
    none = n_bytes({**shape, "num_hidden_layers": 0})
    each = n_bytes({**shape, "num_hidden_layers": 1}) - none
    fit = min(layers, int((budget - none) // each))
    if fit == layers:
        return shape, ""
    if fit < 1:
        raise SettingsError(f"one layer needs {(none + each) / 1e9:.1f} GB; a third of memory is {budget / 1e9:.1f} GB")
    return ({**shape, "num_hidden_layers": fit},
            f"scaled: {fit} of {layers} layers, so that weights take a third of the memory")


def finished(path, write):
    """Writes to a temporary path, then renames it: an existing file is complete."""
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write(partial)
        partial.rename(path)
    finally:
        if partial.is_dir():
            shutil.rmtree(partial)
        else:
            partial.unlink(missing_ok=True)
    return path


def swapped_rows(weight, heads, to_gguf):
    """Reorders the rows of queries and keys: GGUF rotates adjacent pairs, Hugging Face the halves of a head."""
    rows = weight.shape[0] // heads // 2
    split = (heads, 2, rows) if to_gguf else (heads, rows, 2)
    return weight.reshape(*split, -1).swapaxes(1, 2).reshape(weight.shape)


def heads_of(name, shape):
    """The number of heads of a weight whose row order differs; else None."""
    if "q_proj" in name:
        return shape["num_attention_heads"]
    return shape["num_key_value_heads"] if "k_proj" in name else None


def gguf_name(name):
    parts = name.split(".")
    if parts[1] == "layers":
        return f"blk.{parts[2]}.{NAMES['.'.join(parts[3:-1])]}.weight"
    return {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight",
            "lm_head.weight": "output.weight"}[name]


def write_safetensors(file, tensors):
    """tensors: {name: (dims, a function that returns f32)}, written as bf16, one in memory at a time."""
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, (dims, _) in tensors.items():
        size = 2 * math.prod(dims)
        header[name] = {"dtype": "BF16", "shape": dims, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(file, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for _, values in tensors.values():
            out.write(encode("BF16", values()))


def config_json(shape):
    return {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
            "attention_bias": False, "mlp_bias": False, "bos_token_id": 1, "eos_token_id": 2,
            "torch_dtype": "bfloat16", **shape}


def write_folder(folder, shape, source):
    """Real weights if there is a source, else random ones."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config_json(shape), indent=1) + "\n")
    names = list(random_llama.weights(shape, gguf=False))
    if source is None:
        random_llama.write_tokenizer(folder / "tokenizer.json", shape["vocab_size"])
        tensors = {name: (dims, lambda n=number, d=dims: random_llama.values(n, d))
                   for number, (name, dims) in enumerate(names)}
    else:
        shutil.copy(source.parent / "tokenizer.json", folder / "tokenizer.json")
        _, found = read_gguf(source)
        tensors = {name: (dims, lambda n=name, d=dims: decoded(found[gguf_name(n)], d, heads_of(n, shape)))
                   for name, dims in names}
    write_safetensors(folder / "model.safetensors", tensors)


def decoded(tensor, dims, heads):
    kind, _, data = tensor
    values = decode(kind, data, dims)
    return values if heads is None else swapped_rows(values, heads, to_gguf=False)


class Safetensors:
    """The bf16 weights of a folder as f32, one at a time."""

    def __init__(self, file):
        with open(file, "rb") as opened:
            (size,) = struct.unpack("<Q", opened.read(8))
            self.header = json.loads(opened.read(size))
        self.data = np.memmap(file, np.uint8, "r", offset=8 + size)

    def f32(self, name):
        entry = self.header[name]
        bits = self.data[slice(*entry["data_offsets"])].view("<u2")
        return (bits.astype(np.uint32) << 16).view(np.float32).reshape(entry["shape"])


def vocabulary(folder):
    """The tokenizer as GGUF's entries."""
    model = json.loads((folder / "tokenizer.json").read_text())["model"]
    tokens = [""] * (max(model["vocab"].values()) + 1)
    for token, number in model["vocab"].items():
        tokens[number] = token
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]]
    return {"tokenizer.ggml.model": ("string", "gpt2"), "tokenizer.ggml.pre": ("string", "smollm"),
            "tokenizer.ggml.tokens": (("array", "string"), tokens),
            "tokenizer.ggml.token_type": (("array", "i32"), [1] * len(tokens)),
            "tokenizer.ggml.merges": (("array", "string"), merges),
            "tokenizer.ggml.bos_token_id": ("u32", 1), "tokenizer.ggml.eos_token_id": ("u32", 2)}


def write_gguf_of(folder, path, shape, kind):
    """The folder's weights as GGUF: matrices in `kind`, norms in f32, as is usual."""
    metadata = {"general.architecture": ("string", "llama"), "general.name": ("string", folder.name)}
    metadata |= {f"llama.{theirs}": ("u32", shape[ours]) for theirs, ours in NUMBERS.items()}
    metadata |= {"llama.rope.freq_base": ("f32", shape["rope_theta"]),
                 "llama.attention.layer_norm_rms_epsilon": ("f32", shape["rms_norm_eps"])}
    metadata |= vocabulary(folder)
    weights = Safetensors(folder / "model.safetensors")

    def content(name, dims, chosen):
        values, heads = weights.f32(name), heads_of(name, shape)
        return encode(chosen, values if heads is None else swapped_rows(values, heads, to_gguf=True))

    tensors = {}
    for name, dims in random_llama.weights(shape, gguf=False):
        chosen = kind if len(dims) == 2 else "F32"
        tensors[gguf_name(name)] = (chosen, dims, lambda n=name, d=dims, k=chosen: content(n, d, k))
    write_gguf(path, metadata, tensors)


class Weights:
    """Creates missing weights in a folder, with a message."""

    def __init__(self, folder, models, memory_total, say=print):
        self.folder, self.models, self.memory_total, self.say = folder, models, memory_total, say

    def made(self, path, write):
        if not path.exists():
            self.say(f"  writing {path}")
        return finished(path, write)

    def shape(self, model):
        """(the shape used, a note if it isn't the model's own)"""
        return fitted(model.shape, self.memory_total)

    def folder_of(self, model):
        """(folder, note)"""
        shape, note = self.shape(model)
        source = self.models / model.source if model.source else None
        notes = [note] if note else []
        if source is not None and not source.exists():
            notes.append(f"random weights: there is no {model.source}; --models says where it is")
            source = None
        name = f"{model.key}-{shape['num_hidden_layers']}l-{'real' if source else 'random'}-v{FORM}"
        folder = self.made(self.folder / name, lambda path: write_folder(path, shape, source))
        return folder, "; ".join(notes)

    def gguf_of(self, model, dtype):
        folder, _ = self.folder_of(model)
        shape, _ = self.shape(model)
        return self.made(self.folder / f"{folder.name}-{dtype}.gguf",
                         lambda path: write_gguf_of(folder, path, shape, dtype.upper()))

    def bytes_of(self, config):
        """Approximate bytes that a step reads, to order settings by size."""
        shape, _ = self.shape(config.model)
        per_weight = {"f32": 2.0, "bf16": 1.0, "q8_0": 34 / 64, "q4_0": 18 / 64}[config.dtype]
        return int(n_bytes(shape) * per_weight)
