#!/usr/bin/env python3
"""Writes the seed corpus of fuzz_config: small settings, good and bad."""
import json
import pathlib

FOLDER = pathlib.Path(__file__).parent / "corpus" / "config"
LLAMA = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 576, "rms_norm_eps": 1e-5,
         "rope_theta": 100000.0, "tie_word_embeddings": True, "pad_token_id": None, "eos_token_id": [1, 2],
         "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "high_freq_factor": 4}}
SEEDS = {
    "llama": json.dumps(LLAMA),
    "indented": json.dumps(LLAMA, indent=2),
    "empty": "{}",
    "list": "[1, 2]",
    "numbers": '{"a": -1, "b": 9223372036854775807, "c": 18446744073709551615, "d": 1e308, "e": -0.0, "f": 1e400}',
    "texts": '{"a": "\\u0000\\ud83d\\ude00", "é": ""}',
    "twice": '{"a": 1, "a": 2}',
    "deep": '{"a":' * 40 + "1" + "}" * 40,
    "open": '{"a": [1, {"b": "',
}


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in SEEDS.items():
        (FOLDER / name).write_text(text)


main()
