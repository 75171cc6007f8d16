"""Small files made to take all memory or time: each ends with an error or a result, within 1 GB and 10 s.

    bombs.py PROGRAM CHAT_CASES [--quick] [--only PART] [--list]

PROGRAM is `luminal`, CHAT_CASES `luminal_chat_cases`. Files are at most 1 MB. A case fails when the process dies by a
signal, says "out of memory" or "internal error", takes more than LIMIT_SECONDS, or has more than LIMIT_BYTES resident.
The last line sums up. --quick runs one case of each kind.
"""
import argparse
import base64
import json
import os
import pathlib
import resource
import struct
import sys
import tempfile
import threading
import time

MOST_FILE_BYTES = 1 << 20
LIMIT_BYTES = 1 << 30
LIMIT_SECONDS = 10
GUARD_BYTES = 6 << 30  # of address space, so that a failure doesn't take the machine with it
HEADER = "luminal-graph 1\n"


class Case:
    """`files` by name; `command` may name them, and is `luminal`'s unless `chat`."""

    def __init__(self, name, files, command, quick=False, chat=False):
        self.name, self.files, self.command, self.quick, self.chat = name, files, command, quick, chat


def chain(item, between, most=MOST_FILE_BYTES - 1000, count=10**9):
    """item(0) between item(1) …, as many as fit."""
    parts, size = [], 0
    for k in range(count):
        text = item(k)
        size += len(text) + len(between)
        if size > most:
            break
        parts.append(text)
    return between.join(parts)


def graphs():
    def verify(name, text, quick=False, command=("graph", "verify")):
        return Case(f"graph/{name}", {"g.lum": text}, [*command, "g.lum"], quick)

    def iota(name, expression, quick=False, **more):
        return verify(name, f'{HEADER}%0 = iota {expression} : i64[2, 3, 4, 5]\noutput "y" %0\n', quick, **more)

    yield iota("nesting", "(" * 400_000 + "i0" + ")" * 400_000, quick=True)
    yield iota("unary", "-" * 900_000 + "i0")
    yield iota("and", chain(lambda k: f"i0 + {k}*i1 >= i2*{k + 1}", " and ", 28_000), quick=True)
    yield iota("long-and", chain(lambda k: f"i0 + {k}*i1 >= i2*{k + 1}", " and "))
    yield iota("long-or", chain(lambda k: f"i0*{k % 7} + {k}*i1 < i2*{k}", " or "))
    yield iota("sum", chain(lambda k: "*".join(["i0"] * (k % 60 + 1)), " + "))
    yield iota("sum-of-quotients", chain(lambda k: f"i0 // {k + 2}", " + "))
    yield iota("product-of-sums", " * ".join(["(i0+i1+i2+i3+1)"] * 30))
    yield iota("run-product-of-sums", " * ".join(["(i0+i1+i2+i3+1)"] * 30), quick=True,
               command=("run", "--cache", "none", "--backend", "interp"))
    yield iota("long-product", chain(lambda k: f"(i0+{k})", " * "))
    yield iota("powers", chain(lambda k: "i0", "*"))
    yield iota("minimum", "min(" + chain(lambda k: f"i0*{k}+i1", ", ") + ")")
    yield iota("nested-minimum", "".join(f"min(i0*{k}, " for k in range(190)) + "i1" + ")" * 190)
    yield iota("nested-quotients", "(" * 190 + "i0" + "".join(f" // {k + 2} + i1)" for k in range(190)))
    yield iota("nested-modulo", "(" * 190 + "i0" + "".join(f" % {k + 2} * i1)" for k in range(190)))
    yield iota("digits", "1" * 900_000)
    yield iota("many-expressions", "i0 : i64[2, 3, 4, 5]\n" + "".join(
        f"%{n} = iota {chain(lambda k: f'i0*i1*{n}//{k + 2}', ' + ', 3000)} : i64[2, 3, 4, 5]\n" for n in range(1, 300))
        + "%300 = iota i0")
    yield verify("name", f'{HEADER}%0 = input "{"x" * 1_000_000}" : f32[4]\noutput "y" %0\n')
    yield verify("variables", HEADER + chain(lambda k: f"var s{k} 0 9", "\n") + "\n")
    yield verify("dims", f'{HEADER}%0 = input "x" : f32[{", ".join(["2"] * 300_000)}]\n')
    yield verify("large-dims", f'{HEADER}%0 = input "x" : f32[{", ".join(["9223372036854775807"] * 8)}]\noutput "y" %0\n')
    yield verify("nodes", HEADER + '%0 = input "x" : f32[4]\n' + "".join(
        f"%{k} = add %{k - 1} %{k - 1} : f32[4]\n" for k in range(1, 25_000)) + 'output "y" %24999\n')
    yield verify("views", HEADER + '%0 = input "x" : f32[4]\n' + "".join(
        f"%{k} = view %{k - 1} [max(i0, i0 // 2)] : f32[4]\n" for k in range(1, 15_000)) + 'output "y" %14999\n')
    yield verify("quotients", HEADER + "".join(f"var x{k} 1 {1000 + k}\n" for k in range(400)) + "".join(
        f"%{n} = iota {' // '.join(f'x{n * k % 397}' for k in range(1, 60))} : i64[2]\n" for n in range(1, 400))
        + 'output "y" %1\n')
    yield verify("same-line", HEADER + "%0 = input \"x\" : f32[4]\n" * 30_000)
    yield verify("data", f'{HEADER}%0 = input "x" : f32[4]\ndata %0 {"1e308 " * 150_000}\n')
    yield verify("zeros", HEADER + "\0" * 1_000_000)


def egg_programs():
    def egg(name, text, *options, quick=False):
        return Case(f"egg/{name}", {"p.egg": text}, ["egg", "p.egg", *options], quick)

    def doubled(first, step, count=60):
        return first + "".join(f"(let x{k} {step.replace('X', f'x{k - 1}')})" for k in range(1, count))

    yield egg("strings", doubled('(let x0 "aaaaaaaaaaaaaaaa")', "(+ X X)"), quick=True)
    yield egg("replace", doubled('(let x0 "aa")', '(replace X "a" X)'))
    yield egg("replace-nothing", doubled('(let x0 "aa")', '(replace X "" X)'))
    yield egg("vectors", doubled("(sort V (Vec i64)) (let x0 (vec-of 1 2 3))", "(vec-append X X)"))
    yield egg("wide-append", doubled("(sort V (Vec i64)) (let x0 (vec-of 1 2 3))", "(vec-append" + " X" * 8 + ")"))
    yield egg("ranges", "(sort V (Vec i64))" + "".join(f"(let x{k} (vec-range {16_000_000 + k}))" for k in range(50)))
    yield egg("shifts", doubled('(let x0 (from-string "3"))', "(<< X 100000)", 400))
    yield egg("squares", doubled('(let x0 (from-string "12345678901234567890"))', "(* X X)"))
    yield egg("digits", f'(let x (from-string "{"9" * 1_000_000}"))', quick=True)
    yield egg("printed-digits", '(let x (<< (from-string "3") 131000))' + "(extract (to-string x))" * 40)
    yield egg("shifted-too-far", '(let x (<< (from-string "3") 1000000))' + "(extract (to-string x))" * 20)
    yield egg("sets", "(sort S (Set i64)) (relation r (S)) (relation n (i64)) (r (set-of 0)) (n 0)"
              "(rule ((r x) (n i)) ((r (set-insert x (+ i 1))) (n (+ i 1)))) (run 100000)", "--max-seconds", "5")
    yield egg("maps", "(sort M (Map i64 String)) (relation r (M i64)) (r (map-empty) 0)"
              '(rule ((r m i)) ((r (map-insert m i (to-string i)) (+ i 1)))) (run 1000000)', "--max-seconds", "5")
    yield egg("rule", '(relation r (String)) (r "aaaa") (rule ((r x)) ((r (+ x x)))) (run 1000)')
    yield egg("rule-in-query", '(relation r (String)) (r "aaaa") (rule ((r x) (= y (+ x x))) ((r y))) (run 1000)')
    yield egg("merge", '(function f () String :merge (+ old new)) (set (f) "aaaa")'
              '(rule ((= x (f))) ((set (f) x) (set (f) (+ x "b")))) (run 1000)')
    yield egg("terms", "(datatype T (A) (P T T)) (rewrite (A) (P (A) (A))) (rewrite (P x y) (P y x))"
              "(rewrite (P x (P y z)) (P (P x y) z)) (let t (P (A) (P (A) (P (A) (A))))) (run 1000)",
              "--max-bytes", "200MB", "--max-seconds", "5")
    yield egg("shared-term", doubled("(datatype T (A) (P T T)) (let x0 (A))", "(P X X)") + "(extract x59)")
    yield egg("shared-text", doubled(f'(datatype T (S String) (P T T)) (let x0 (S "{"a" * 100_000}"))', "(P X X)", 20)
              + "(extract x19)")
    yield egg("many-prints", f'(datatype T (S String)) (let x (S "{"a" * 500_000}"))' + "(extract x)" * 40_000)
    yield egg("nested-containers", "(sort V0 (Vec i64)) (let x0 (vec-of 1 2))" + "".join(
        f"(sort V{k} (Vec V{k - 1})) (let x{k} (vec-of x{k - 1} x{k - 1}))" for k in range(1, 40)) + "(extract x39)")
    yield egg("push", f'(relation r (String)) {"".join(f"""(r "{k}")""" for k in range(80_000))} (push 999)')
    yield egg("nesting", "(" * 500_000 + ")" * 500_000)
    yield egg("nested-term", "(datatype T (A) (S T)) (let x " + "(S " * 150_000 + "(A)" + ")" * 150_000 + ")")
    yield egg("names", chain(lambda k: f"(sort S{k})", " "))
    yield egg("rules", "(relation r (i64))" + chain(lambda k: f"(rule ((r {k})) ((r {k + 1})))", " "))
    yield egg("long-rule", "(relation r (i64 i64)) (rule (" + chain(lambda k: f"(r x{k} x{k + 1})", " ", 200_000) + ") ()) (run 1)")
    yield egg("include-itself", '(include "p.egg")')
    yield egg("comments", ";" * 1_000_000)


def tokenizers():
    def tokenizer(name, value, text="abc", quick=False):
        written = value if isinstance(value, str) else json.dumps(value)
        return Case(f"tokenizer/{name}", {"tokenizer.json": written}, ["tokenize", "tokenizer.json", "-p", text], quick)

    model = {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}

    def steps(kind, key, each, count):
        return {"model": model, kind: {"type": "Sequence", key: [each] * count}}

    tenfold = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 10}
    yield tokenizer("replace", steps("normalizer", "normalizers", tenfold, 12), quick=True)
    yield tokenizer("replace-pattern", steps("normalizer", "normalizers", {**tenfold, "pattern": {"Regex": "a"}}, 12))
    yield tokenizer("replace-large", steps("normalizer", "normalizers", {**tenfold, "content": "a" * 300_000}, 3))
    yield tokenizer("prepend", steps("normalizer", "normalizers", {"type": "Prepend", "prepend": "a" * 16_000}, 60))
    yield tokenizer("byte-level", steps("normalizer", "normalizers", {"type": "ByteLevel"}, 64), text="ééé")
    yield tokenizer("added-normalized", {**steps("normalizer", "normalizers", tenfold, 6), "added_tokens": [
        {"id": k + 2, "content": f"a{k}", "normalized": True, "special": False} for k in range(9000)]})
    yield tokenizer("added-prefixes", {"model": model, "added_tokens": [
        {"id": k + 2, "content": "a" * (k + 1), "special": True} for k in range(1200)]}, text="a" * 50_000)
    yield tokenizer("template", {"model": model, "post_processor": {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "x", "type_id": 0}}] * 15_000 + [{"Sequence": {"id": "A", "type_id": 0}}],
        "special_tokens": {"x": {"id": "x", "ids": [0] * 50_000, "tokens": ["a"]}}}}, quick=True)
    for name, pattern in (("repeats", "(((a{1,99}){1,99}){1,99}){1,99}"), ("alternatives", "|".join(["a+b"] * 20_000)),
                          ("nesting", "(" * 50_000 + "a" + ")" * 50_000), ("late", "(a|b)*a" + "(a|b)" * 30),
                          ("classes", "".join(f"[\\p{{L}}&&[^{chr(0x4e00 + k)}]]" for k in range(2000))),
                          ("restart", "(a+)+$"), ("restart-threes", "(aaa)+$")):
        yield tokenizer(f"pattern-{name}", {"model": model, "pre_tokenizer": {
            "type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"}}, text="a" * 100_000 + "b")
    yield tokenizer("objects", '{"x": [' + '{"a": 1},' * 110_000 + "0]}", quick=True)
    yield tokenizer("nesting", '{"model": ' + "[" * 500_000)
    yield tokenizer("nested-sequence", '{"normalizer": ' + '{"type": "Sequence", "normalizers": [' * 25_000)
    yield tokenizer("same-keys", '{"model": {"type": "BPE", "merges": [], "vocab": {' + '"a": 0,' * 130_000 + '"b": 1}}}')
    yield tokenizer("far-id", {"model": {**model, "vocab": {"a": 0, "b": 2**31 - 2}}})
    yield tokenizer("far-added", {"model": model, "added_tokens": [{"id": 2**31 - 2, "content": "x"}]})
    yield tokenizer("large-id", '{"model": {"type": "BPE", "vocab": {"a": 99999999999999999999}, "merges": []}}')
    yield tokenizer("digits", '{"model": {"type": "BPE", "vocab": {"a": ' + "9" * 900_000 + '}, "merges": []}}')
    yield tokenizer("tokens", {"model": {**model, "vocab": {f"t{k}": k for k in range(60_000)}}})
    yield tokenizer("merges", {"model": {"type": "BPE", "vocab": {"a" * (k + 1): k for k in range(1000)},
                                         "merges": [["a", "a" * (k + 1)] for k in range(998)]}}, text="a" * 100_000)
    yield tokenizer("unigram", {"model": {"type": "Unigram", "unk_id": 0, "vocab": [
        ["a" * (k + 1), -1.0 / (k + 1)] for k in range(1200)]}}, text="a" * 100_000)
    charsmap = struct.pack("<I", 4 * 1024) + bytes(4096) + b"a" * 500_000
    yield tokenizer("charsmap", {"model": model, "normalizer": {
        "type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap).decode()}})
    yield tokenizer("decoder", steps("decoder", "decoders", tenfold, 12))
    for case in (steps("decoder", "decoders", tenfold, 12),):
        yield Case("tokenizer/decode", {"tokenizer.json": json.dumps(case)},
                   ["tokenize", "tokenizer.json", "--decode", "-p", "0 0"])


def templates():
    def template(name, source, messages=({"role": "user", "content": "hi"},), quick=False):
        case = {"name": name, "template": source, "messages": list(messages), "variables": {}, "expected": None,
                "add_generation_prompt": True, "bos_token": "", "eos_token": "", "now": 0}
        return Case(f"template/{name}", {"cases.json": json.dumps([case])}, ["cases.json"], quick, chat=True)

    def grown(start, step):
        return ("{% set n = namespace(s=" + start + ") %}{% for i in range(90000) %}{% set n.s = " + step
                + " %}{% endfor %}{{ n.s }}")

    yield template("text", grown("'aaaa'", "n.s + n.s"), quick=True)
    yield template("marked-text", grown("messages[0].content", "n.s + 'a' + n.s"))
    yield template("lists", grown("[1]", "[n.s, n.s]"))
    yield template("list-sums", grown("[1]", "n.s + n.s"))
    yield template("replace", grown("'aa'", "n.s.replace('a', n.s)"))
    yield template("join", grown("'aa'", "n.s.join(n.s | list)"))
    yield template("repeat", "{{ ('a' * 100000000) * 100000000 }}")
    yield template("repeat-marked", "{{ (messages[0].content + 'a') * 50000000 }}")
    yield template("slices", "{% set s = 'a' * 10000000 %}" + "{{ s[::2] | length }}" * 1000)
    yield template("characters", "{% set s = 'a' * 3000000 %}" + "{% for c in s %}{% endfor %}" * 1000)
    yield template("sort", "{% set s = range(100000) | list %}" + "{{ s | sort | length }}" * 1000)
    yield template("indent", grown("'a\\na'", "n.s | indent(1000)"))
    yield template("json", grown("{'a': 1}", "{'a': n.s | tojson, 'b': n.s | tojson}"))
    yield template("loops", "{% for i in range(100000) %}" * 100 + "{% endfor %}" * 100)
    yield template("macro", "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}")
    yield template("nesting", "{{ " + "(" * 400_000 + "1" + ")" * 400_000 + " }}")
    yield template("blocks", "{% if true %}" * 60_000)
    yield template("operators", "{{ 1" + " + 1" * 200_000 + " }}")
    yield template("messages", "{% for m in messages %}{{ m.content }}{% endfor %}",
                   [{"role": "user", "content": "a"}] * 20_000)
    yield template("unclosed", "{{" * 400_000)


def settings():
    def config(name, text, quick=False):
        header = json.dumps({}).encode()
        return Case(f"config/{name}", {"config.json": text, "model.safetensors": struct.pack("<Q", len(header)) + header},
                    ["inspect", "."], quick)

    yield config("nesting", '{"a": ' + "[" * 900_000, quick=True)
    yield config("objects", '{"x": [' + '{"a": 1},' * 110_000 + "0]}")
    yield config("same-keys", "{" + chain(lambda k: '"a": 1', ",") + "}")
    yield config("keys", "{" + chain(lambda k: f'"k{k}": {k}', ",") + "}")
    yield config("digits", '{"vocab_size": ' + "9" * 1_000_000 + "}")
    yield config("exponent", '{"vocab_size": 1e' + "9" * 1_000_000 + "}")
    yield config("large", '{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 9223372036854775808}')
    yield config("layers", '{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 4, "hidden_size": 4,'
                 '"num_hidden_layers": 9223372036854775807, "num_attention_heads": 1, "intermediate_size": 4}')
    yield config("text", '{"a": "' + "\\ud800" * 150_000 + '"}')


def weights():
    def safetensors(name, header, data=b"", quick=False, size=None):
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        written = struct.pack("<Q", len(text) if size is None else size) + text + data
        return Case(f"safetensors/{name}", {"model.safetensors": written}, ["inspect", "model.safetensors"], quick)

    tensor = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
    yield safetensors("length", b"{}", size=2**63, quick=True)
    yield safetensors("shape", {"a": {**tensor, "shape": [2**62, 2**62, 2**62]}}, bytes(4))
    yield safetensors("dims", {"a": {**tensor, "shape": [1] * 300_000}}, bytes(4))
    yield safetensors("zero-sized", {f"t{k}": {"dtype": "F32", "shape": [0, 2**62], "data_offsets": [0, 0]} for k in range(11_000)})
    yield safetensors("nesting", b'{"a": ' + b"[" * 900_000)
    yield safetensors("same-keys", b"{" + b",".join([b'"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}'] * 15_000) + b"}", bytes(4))
    yield safetensors("metadata", {"__metadata__": {f"k{k}": "v" for k in range(60_000)}})
    yield safetensors("name", {"a" * 900_000: tensor}, bytes(4))

    def gguf(name, *parts, quick=False):
        return Case(f"gguf/{name}", {"model.gguf": b"GGUF" + struct.pack("<I", 3) + b"".join(parts)},
                    ["inspect", "model.gguf"], quick)

    def text(value):
        return struct.pack("<Q", len(value)) + value

    string, array, u8, u32 = 8, 9, 0, 4
    yield gguf("tensors", struct.pack("<QQ", 2**60, 0), quick=True)
    yield gguf("metadata", struct.pack("<QQ", 0, 2**60))
    yield gguf("string", struct.pack("<QQ", 0, 1), struct.pack("<Q", 2**60), b"a")
    yield gguf("array", struct.pack("<QQ", 0, 1), text(b"k"), struct.pack("<IIQ", array, u8, 2**60))
    yield gguf("strings", struct.pack("<QQ", 0, 1), text(b"k"), struct.pack("<IIQ", array, string, 120_000), text(b"") * 120_000)
    nested = b"".join(struct.pack("<IQ", array, 1) for _ in range(80_000))
    yield gguf("nesting", struct.pack("<QQ", 0, 1), text(b"k"), struct.pack("<I", array), nested)
    yield gguf("empty-arrays", struct.pack("<QQ", 0, 1), text(b"k"), struct.pack("<IIQ", array, array, 80_000),
               struct.pack("<IQ", u8, 0) * 80_000)
    yield gguf("same-keys", struct.pack("<QQ", 0, 50_000), (text(b"k") + struct.pack("<II", u32, 1)) * 50_000)
    yield gguf("keys", struct.pack("<QQ", 0, 40_000), b"".join(text(b"k%d" % k) + struct.pack("<II", u32, 1) for k in range(40_000)))
    info = struct.pack("<IQQQQIQ", 4, 2**62, 2**62, 2**62, 2**62, 0, 0)
    yield gguf("shape", struct.pack("<QQ", 1, 0), text(b"t"), info, bytes(64))
    yield gguf("many-tensors", struct.pack("<QQ", 25_000, 0), b"".join(
        text(b"t%d" % k) + struct.pack("<IQIQ", 1, 0, 0, 0) for k in range(25_000)), bytes(64))

    def npy(name, header, version=1, quick=False):
        length = struct.pack("<H" if version == 1 else "<I", min(len(header), 65535) if version == 1 else len(header))
        return Case(f"npy/{name}", {"x.npy": b"\x93NUMPY" + bytes([version, 0]) + length + header + bytes(16),
                                    "g.lum": f'{HEADER}%0 = input "x" : f32[4]\n%1 = add %0 %0 : f32[4]\noutput "y" %1\n'},
                    ["run", "g.lum", "--cache", "none", "--backend", "interp", "--input", "x=x.npy"], quick)

    fields = b"{'descr': '<f4', 'fortran_order': False, 'shape': %s, }"
    yield npy("right", fields % b"(4,)", quick=True)
    yield npy("dims", fields % (b"(" + b"1," * 400_000 + b")"), version=2)
    yield npy("digits", fields % (b"(" + b"9" * 900_000 + b",)"), version=2)
    yield npy("large", fields % b"(9223372036854775807, 9223372036854775807)")
    yield npy("negative", fields % b"(-4,)")
    yield npy("version", fields % b"(4,)", version=9)
    yield npy("open", b"{'descr': '<f4', 'fortran_order': False, 'shape': (" + b"4" * 100, version=2)


def records():
    def tune(name, text, quick=False):
        return Case(f"records/{name}", {"r.jsonl": text}, ["tune", "import", "r.jsonl", "--records", "r.sqlite"], quick)

    yield tune("nesting", "[" * 900_000, quick=True)
    yield tune("list", '{"a": [' + '{"a": 1},' * 110_000 + "0]}")
    yield tune("objects", '{"a":' * 150_000)
    yield tune("lines", "{}\n" * 300_000)
    yield tune("line", '{"format": "' + "a" * 1_000_000 + '"}')
    yield tune("digits", '{"version": ' + "9" * 1_000_000 + "}")
    yield tune("keys", "{" + chain(lambda k: f'"k{k}": {k}', ",") + "}")

    def profile(name, text, quick=False):
        graph = f'{HEADER}%0 = input "x" : f32[4]\n%1 = add %0 %0 : f32[4]\noutput "y" %1\n'
        return Case(f"profile/{name}", {"p.json": text, "g.lum": graph},
                    ["compile", "g.lum", "--cache", "none", "--records", "none", "--fusion", "measured", "--fusion-profile", "p.json"], quick)

    yield profile("nesting", "[" * 900_000, quick=True)
    yield profile("keys", "{" + chain(lambda k: f'"k{k}": {k}', ",") + "}")
    yield profile("digits", '{"version": ' + "9" * 1_000_000 + "}")


PARTS = {"graph": graphs, "egg": egg_programs, "tokenizer": tokenizers, "template": templates, "settings": settings,
         "weights": weights, "records": records}


def run(command, folder):
    """(exit code or -signal, output, seconds, resident bytes)"""
    log = pathlib.Path(folder) / "log"
    start = time.monotonic()
    pid = os.fork()
    if pid == 0:
        try:
            os.chdir(folder)
            out = os.open(log, os.O_WRONLY | os.O_CREAT, 0o600)
            os.dup2(out, 1)
            os.dup2(out, 2)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            resource.setrlimit(resource.RLIMIT_AS, (GUARD_BYTES, GUARD_BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.execv(command[0], command)
        finally:
            os._exit(127)
    timer = threading.Timer(6 * LIMIT_SECONDS, os.kill, (pid, 9))
    timer.start()
    _, status, usage = os.wait4(pid, 0)
    timer.cancel()
    # Of CPU time where the machine is shared: a waiting process isn't a hanging one.
    seconds = min(time.monotonic() - start, usage.ru_utime + usage.ru_stime)
    with open(log, errors="replace") as file:
        output = file.read(2000)
    return os.waitstatus_to_exitcode(status), output, seconds, usage.ru_maxrss * 1024


def fault(case, code, output, seconds, resident):
    for name, content in case.files.items():
        if len(content) > MOST_FILE_BYTES:
            return f"{name} has {len(content)} bytes"
    if code < 0:
        return f"signal {-code}"
    if code not in (0, 1, 2):
        return f"exit code {code}"
    if "out of memory" in output or "internal error" in output or "please report" in output or "bad_alloc" in output:
        return "a wrong message"
    if seconds > LIMIT_SECONDS:
        return "too long"
    return "too large" if resident > LIMIT_BYTES else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("chat_cases")
    parser.add_argument("--quick", action="store_true", help="one case of each kind")
    parser.add_argument("--only", default="", help="cases whose name begins so")
    parser.add_argument("--list", action="store_true", help="print every case with its figures")
    arguments = parser.parse_args()
    count = faults = 0
    longest = largest = 0.0
    for make in PARTS.values():
        for case in make():
            if (arguments.quick and not case.quick) or not case.name.startswith(arguments.only):
                continue
            with tempfile.TemporaryDirectory() as folder:
                for name, content in case.files.items():
                    data = content.encode() if isinstance(content, str) else content
                    (pathlib.Path(folder) / name).write_bytes(data)
                program = arguments.chat_cases if case.chat else arguments.program
                code, output, seconds, resident = run([os.path.abspath(program), *case.command], folder)
            count += 1
            longest, largest = max(longest, seconds), max(largest, resident)
            why = fault(case, code, output, seconds, resident)
            faults += why is not None
            if why or arguments.list:
                print(f"{case.name}: {why or 'ok'}; {code}, {seconds:.1f} s, {resident >> 20} MB; {output[:150]!r}", flush=True)
    print(f"{count} hostile files: {faults} faults, at most {longest:.1f} s and {int(largest) >> 20} MB")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main())
