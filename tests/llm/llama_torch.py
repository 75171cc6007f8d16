"""The other side of llama_test: models with random weights, written as folders, and their logits by transformers.

Usage: llama_torch.py FOLDER. Each model gets FOLDER/<name> with config.json, model.safetensors, ids.i32 and logits.f32 of
every token of one sequence.
"""
import pathlib
import sys

try:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

LENGTH = 24
BASE = {"vocab_size": 96, "hidden_size": 32, "intermediate_size": 56, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "tie_word_embeddings": False}


def rope(kind, **more):
    return {"rope_parameters": {"rope_type": kind, "rope_theta": 10000.0, **more}}


LLAMA = {
    "plain": {"num_key_value_heads": 4},
    "grouped": {},
    "one_kv_head": {"num_key_value_heads": 1},
    "tied": {"tie_word_embeddings": True},
    "biases": {"attention_bias": True, "mlp_bias": True},
    "wide_heads": {"head_dim": 16},
    "other_base": {"rope_parameters": {"rope_type": "default", "rope_theta": 500000.0}, "rms_norm_eps": 1e-6},
    "linear": rope("linear", factor=4.0),
    "llama3": rope("llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                   original_max_position_embeddings=16),
    "yarn": rope("yarn", factor=4.0, original_max_position_embeddings=16),
}
MISTRAL = {
    "window": {"sliding_window": 5},
    "no_window": {"sliding_window": None, "head_dim": 8},
}


def write(folder, config_class, model_class, changes, seed):
    torch.manual_seed(seed)
    config = config_class(**{**BASE, **changes}, attn_implementation="eager")
    model = model_class(config).eval()
    for parameter in model.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    model.save_pretrained(folder)
    ids = torch.randint(0, BASE["vocab_size"], (1, LENGTH))
    with torch.no_grad():
        logits = model(ids).logits[0].float()
    ids[0].to(torch.int32).numpy().tofile(folder / "ids.i32")
    logits.numpy().tofile(folder / "logits.f32")


def main():
    folder = pathlib.Path(sys.argv[1])
    for seed, (name, changes) in enumerate(LLAMA.items()):
        write(folder / f"llama_{name}", LlamaConfig, LlamaForCausalLM, changes, seed)
    for seed, (name, changes) in enumerate(MISTRAL.items()):
        write(folder / f"mistral_{name}", MistralConfig, MistralForCausalLM, changes, 100 + seed)


main()
