"""The other side of bert_test: encoders with random weights, written as folders, and their states by transformers.

Usage: bert_torch.py FOLDER. Each model gets FOLDER/<name> with config.json, model.safetensors, ids.i32 and states.f32 of
every token of one sequence.
"""
import pathlib
import sys

try:
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import BertConfig, BertForMaskedLM, BertModel
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

LENGTH = 19
BASE = {"vocab_size": 96, "hidden_size": 32, "intermediate_size": 56, "num_hidden_layers": 2, "num_attention_heads": 4,
        "max_position_embeddings": 24, "layer_norm_eps": 1e-5}
MODELS = {
    "gelu": {},
    "gelu_new": {"hidden_act": "gelu_new"},
    "relu": {"hidden_act": "relu", "layer_norm_eps": 1e-12},
    "silu": {"hidden_act": "silu", "type_vocab_size": 3},
    "one_head": {"num_attention_heads": 1, "num_hidden_layers": 3},
    "with_a_head": {},
    "old_names": {},
}


def old_names(file):
    """As checkpoints of TensorFlow's time call the parameters of norms."""
    tensors = load_file(file)
    renamed = {name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
               for name, tensor in tensors.items()}
    assert renamed.keys() != tensors.keys()
    save_file(renamed, file)


def write(folder, name, changes, seed):
    torch.manual_seed(seed)
    config = BertConfig(**{**BASE, **changes})
    model = (BertForMaskedLM if name in ("with_a_head", "old_names") else BertModel)(config).eval()
    for parameter in model.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    model.save_pretrained(folder)
    if name == "old_names":
        old_names(folder / "model.safetensors")
    ids = torch.randint(0, BASE["vocab_size"], (1, LENGTH))
    with torch.no_grad():
        states = getattr(model, "bert", model)(ids).last_hidden_state[0].float()
    ids[0].to(torch.int32).numpy().tofile(folder / "ids.i32")
    states.numpy().tofile(folder / "states.f32")


def main():
    folder = pathlib.Path(sys.argv[1])
    for seed, (name, changes) in enumerate(MODELS.items()):
        write(folder / name, name, changes, seed)


main()
