"""Writes a Llama with random weights, for timings that only need the right size.

  .venv/bin/python apps/bench/llm/random_llama.py OUTPUT [--type BF16|F32|F16|Q8_0|Q4_0|Q4_1|Q4_K|Q6_K] [--shape NAME]

OUTPUT is a folder in Hugging Face's layout (config.json, model.safetensors in BF16, F16 or F32, and a tokenizer.json in
which each byte is a token and the others have no meaning), or a GGUF file, with norms in F32, if it ends in .gguf. Equal
arguments give equal bytes. The shape '1b' is Llama-3.2-1B's.
"""
import argparse
import json
import math
import pathlib
import struct
import sys

import numpy as np

# The numpy encoders of the readers' tests.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tests/io"))
from gguf_blocks import TYPES, encode  # noqa: E402
from gguf_file import write as write_gguf  # noqa: E402

SHAPES = {
    "1b": {"vocab_size": 128256, "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16,
           "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64, "max_position_embeddings": 131072,
           "rope_theta": 500000.0, "rms_norm_eps": 1e-5},
    "tiny": {"vocab_size": 512, "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2,
             "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64, "max_position_embeddings": 512,
             "rope_theta": 10000.0, "rms_norm_eps": 1e-5},
}
FOLDER_TYPES = ("BF16", "F16", "F32")
# The layer's weights: name in safetensors, name in GGUF, dims by the shape.
LAYER = [
    ("input_layernorm", "attn_norm", lambda s: [s["hidden_size"]]),
    ("self_attn.q_proj", "attn_q", lambda s: [s["num_attention_heads"] * s["head_dim"], s["hidden_size"]]),
    ("self_attn.k_proj", "attn_k", lambda s: [s["num_key_value_heads"] * s["head_dim"], s["hidden_size"]]),
    ("self_attn.v_proj", "attn_v", lambda s: [s["num_key_value_heads"] * s["head_dim"], s["hidden_size"]]),
    ("self_attn.o_proj", "attn_output", lambda s: [s["hidden_size"], s["num_attention_heads"] * s["head_dim"]]),
    ("post_attention_layernorm", "ffn_norm", lambda s: [s["hidden_size"]]),
    ("mlp.gate_proj", "ffn_gate", lambda s: [s["intermediate_size"], s["hidden_size"]]),
    ("mlp.up_proj", "ffn_up", lambda s: [s["intermediate_size"], s["hidden_size"]]),
    ("mlp.down_proj", "ffn_down", lambda s: [s["hidden_size"], s["intermediate_size"]]),
]


def weights(shape, gguf):
    """Names and dims of all weights; the output layer is tied to the embedding unless the shape says otherwise."""
    yield ("token_embd" if gguf else "model.embed_tokens") + ".weight", [shape["vocab_size"], shape["hidden_size"]]
    for layer in range(shape["num_hidden_layers"]):
        for ours, theirs, dims in LAYER:
            yield (f"blk.{layer}.{theirs}" if gguf else f"model.layers.{layer}.{ours}") + ".weight", dims(shape)
    yield ("output_norm" if gguf else "model.norm") + ".weight", [shape["hidden_size"]]
    if not shape.get("tie_word_embeddings", True):
        yield ("output" if gguf else "lm_head") + ".weight", [shape["vocab_size"], shape["hidden_size"]]


def values(number, dims):
    """About 1 for norms; small for matrices, so that activations don't grow from layer to layer."""
    random = np.random.default_rng(number)
    if len(dims) == 1:
        return 1 + np.float32(0.1) * random.standard_normal(dims, np.float32)
    return random.standard_normal(dims, np.float32) * np.float32(1 / math.sqrt(dims[1]))


def byte_symbols():
    """The characters that encode bytes in byte-level vocabularies: printable ones stay unchanged."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return [chr(byte) for byte in plain] + [chr(256 + number) for number in range(len(others))]


def write_tokenizer(path, vocab_size):
    symbols = byte_symbols()[:vocab_size]
    vocabulary = {token: number for number, token in enumerate(symbols)}
    vocabulary |= {f"<{number}>": number for number in range(len(symbols), vocab_size)}
    bytes_as_symbols = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    path.write_text(json.dumps({"version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
                                "normalizer": None, "pre_tokenizer": bytes_as_symbols, "post_processor": None,
                                "decoder": bytes_as_symbols,
                                "model": {"type": "BPE", "vocab": vocabulary, "merges": []}}))


def write_folder(folder, shape, kind):
    folder.mkdir(parents=True, exist_ok=True)
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "attention_bias": False,
              "mlp_bias": False, "tie_word_embeddings": True, "bos_token_id": 1, "eos_token_id": 2,
              "torch_dtype": {"BF16": "bfloat16", "F16": "float16", "F32": "float32"}[kind], **shape}
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    write_tokenizer(folder / "tokenizer.json", shape["vocab_size"])
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, dims in weights(shape, gguf=False):
        size = math.prod(dims) * TYPES[kind][2]
        header[name] = {"dtype": kind, "shape": dims, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for number, (_, dims) in enumerate(weights(shape, gguf=False)):
            file.write(encode(kind, values(number, dims)))


def write_file(path, shape, kind):
    numbers = {"embedding_length": "hidden_size", "feed_forward_length": "intermediate_size",
               "block_count": "num_hidden_layers", "attention.head_count": "num_attention_heads",
               "attention.head_count_kv": "num_key_value_heads", "attention.key_length": "head_dim",
               "attention.value_length": "head_dim", "rope.dimension_count": "head_dim",
               "context_length": "max_position_embeddings", "vocab_size": "vocab_size"}
    metadata = {"general.architecture": ("string", "llama"), "general.name": ("string", "random")}
    metadata |= {f"llama.{theirs}": ("u32", shape[ours]) for theirs, ours in numbers.items()}
    metadata |= {"llama.rope.freq_base": ("f32", shape["rope_theta"]),
                 "llama.attention.layer_norm_rms_epsilon": ("f32", shape["rms_norm_eps"])}
    tensors = {}
    for number, (name, dims) in enumerate(weights(shape, gguf=True)):
        chosen = kind if len(dims) == 2 else "F32"
        tensors[name] = (chosen, dims, lambda n=number, d=dims, k=chosen: encode(k, values(n, d)))
    write_gguf(path, metadata, tensors)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--type", default="BF16", choices=sorted(TYPES))
    parser.add_argument("--shape", default="1b", choices=sorted(SHAPES))
    options = parser.parse_args()
    shape = SHAPES[options.shape]
    if options.output.suffix == ".gguf":
        write_file(options.output, shape, options.type)
    elif options.type in FOLDER_TYPES:
        write_folder(options.output, shape, options.type)
    else:
        parser.error(f"safetensors can't hold {options.type}; name a .gguf file, or one of {', '.join(FOLDER_TYPES)}")


if __name__ == "__main__":
    main()
