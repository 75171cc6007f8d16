#!/usr/bin/env python3
"""Writes the seeds of the text fuzzers: small tokenizers of every kind, and a template of every construct."""
import json
import pathlib
import struct

CORPUS = pathlib.Path(__file__).parent / "corpus"


def tokenizer(model, **parts):
    return json.dumps({"model": model, **parts})


BPE = {"type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True,
       "vocab": {"<unk>": 0, "<s>": 1, "a": 2, "b": 3, "ab": 4, "Ġ": 5, "Ġa": 6}, "merges": ["a b", ["Ġ", "a"]]}
UNIGRAM = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["▁", -1.5], ["a", -2], ["▁ab", -1]]}
WORDPIECE = {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "a": 1, "##b": 2}}
REGEX = r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+(?!\S)|\s+"
JSON = [
    tokenizer(BPE, pre_tokenizer={"type": "Sequence", "pretokenizers": [
        {"type": "Digits", "individual_digits": True},
        {"type": "Split", "pattern": {"Regex": REGEX}, "behavior": "Isolated", "invert": False},
        {"type": "ByteLevel", "add_prefix_space": True, "use_regex": False}]}, decoder={"type": "ByteLevel"},
        added_tokens=[{"id": 1, "content": "<s>", "special": True, "lstrip": True, "rstrip": True, "single_word": True}]),
    tokenizer(UNIGRAM, normalizer={"type": "Sequence", "normalizers": [
        {"type": "NFKC"}, {"type": "Prepend", "prepend": "▁"}, {"type": "Strip"}, {"type": "Lowercase"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
        pre_tokenizer={"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"},
        decoder={"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"Regex": "▁+"}, "content": " "},
                                                  {"type": "ByteFallback"}, {"type": "Fuse"},
                                                  {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}),
    tokenizer(WORDPIECE, normalizer={"type": "BertNormalizer"}, pre_tokenizer={"type": "BertPreTokenizer"},
              decoder={"type": "WordPiece", "prefix": "##", "cleanup": True},
              post_processor={"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "a", "type_id": 0}},
                                                                       {"Sequence": {"id": "A", "type_id": 0}}],
                              "special_tokens": {"a": {"id": "a", "ids": [1], "tokens": ["a"]}}}),
    # Took 20 seconds once: cases of large sets.
    tokenizer(WORDPIECE, pre_tokenizer={"type": "Split", "behavior": "Isolated", "pattern": {
        "Regex": r"(?i:[)t'^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?s^[\\p{L}\p{N}]{1,3})"}}),
]


def field(number, data):
    if isinstance(data, int):
        return bytes([number << 3, data])
    return bytes([number << 3 | 2, len(data)]) + data


def piece(text, score, kind):
    return field(1, field(1, text.encode()) + bytes([2 << 3 | 5]) + struct.pack("<f", score) + field(3, kind))


def model(kind):
    pieces = [("<unk>", 0, 2), ("<s>", 0, 3), ("▁", -1, 1), ("a", -2, 1), ("▁a", -3, 1), ("king", -1, 4), ("b", -1, 5)]
    trie = struct.pack("<I", 8) + struct.pack("<II", 0x400, 0x61) + b"x\0"
    return b"".join(piece(*one) for one in pieces) + field(2, field(3, kind)) + \
        field(3, field(2, trie) + field(3, 1) + field(4, 1))


TEMPLATES = [
    "{% for m in messages %}{{ loop.index }}<{{ m.role }}>{{ m['content'] | trim }}\n{%- else -%}none{% endfor %}",
    "{%- set ns = namespace(a=[1]) %}{% set ns.a = ns.a + [2] %}{{ ns.a[::-1] | tojson(indent=2) }}{# c #}",
    "{% macro f(x, y='z') %}{{ x ~ y }}{% endmacro %}{{ f('a' if messages is defined else none, y=1.5) }}",
    "{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | join(', ') | upper }}",
    "{% if not x and messages|length > 1 or 'a' in 'abc' %}{{ 'a,b'.split(',')[-1].replace('b', 'c') }}{% elif y %}{% endif %}",
    "{% raw %}{{{% endraw %}{{ -7 // 2 ** 2 % 3 }}{{ range(1, 9, 2) | list | sort(reverse=true) }}{% set a, b = 1, 2 %}",
    "{% set t %}x{% endset %}{% for k, v in {'a': 1}.items() if v is odd %}{{ k }}{% break %}{% endfor %}{{ strftime_now('%Y') }}",
]


def write(folder, items):
    path = CORPUS / folder
    path.mkdir(parents=True, exist_ok=True)
    for i, item in enumerate(items):
        (path / f"seed-{i}").write_bytes(item if isinstance(item, bytes) else item.encode())


write("tokenizer_json", JSON)
write("tokenizer_model", [model(1), model(2)])
write("chat_template", TEMPLATES)
