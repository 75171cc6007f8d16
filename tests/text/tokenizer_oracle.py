"""Compares tokenizers with those of PyPI, text by text: ids with and without special tokens, and what comes back.

Each tokenizer of the models folder is opened from every file it has, beside `tokenizers` or `sentencepiece`; where
only a GGUF vocabulary exists, the oracle is built from its tokens and merges. The texts are tinyshakespeare, names,
every .inp case, and random strings from a seed. luminal_tokenizer_cases does the comparing; the cases it reads are
the ids before and after a text, then for each text its bytes, its ids and what these decode to.
"""
import argparse
import functools
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import unicodedata

try:
    import sentencepiece
    import tokenizers
except ImportError as error:
    print(f"SKIPPED: {error}; run tools/install-deps.sh --test")
    sys.exit(77)
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

from gguf_vocabulary import packed_numbers, packed_text, read_metadata, write_vocabulary
from sentencepiece_files import model_of_gguf, train

SEPARATOR = "\n__ggml_vocab_test__\n"


def is_one_of_many(c):
    """Ideographs, syllables and private use, of which every 16th does."""
    return 0x3400 <= c < 0xA000 or 0xAC00 <= c < 0xD7A4 or 0xE000 <= c < 0xF900 or 0x17000 <= c < 0x18D00 or \
        0x20000 <= c < 0x32000 or c >= 0xF0000


# Characters that moved to another category after Python's version of Unicode.
MOVED = {0x1171E}
EVERYTHING = [c for c in range(0x110000) if c not in MOVED and unicodedata.category(chr(c)) not in ("Cn", "Cs") and
              (c % 16 == 0 or not is_one_of_many(c))]
SPACES = ["  ", "\t", "\n", "\r\n", " \n\n ", "\u00a0", "\u3000", "\u200b", "\u2028", "   \t"]
BITS = ["'s", "'LL", "'\u017f", "don't", "I'VE", "1234567", "3.14", "a\u0301\u0323", "e\u0323\u0301", "\U0001F469\u200d\U0001F4BB",
        "\U0001F1E9\U0001F1EA", "\u0130stanbul", "\ufb01n", "\u2581", "<0x0A>", "<s>x", "<|im", "\uff21\uff22", "\uac00\u1100\u1161", "\u00bd",
        "\u4f60\u597d", "\u0e33", "#include <x>", "__init__", "....", "-->", "\x00", "\x7f", "\ufffd"]


@functools.cache
def unknown_code_points(normalizer_name):
    """Those a normaliser has of another version of Unicode than Python and the library agree on."""
    wrong = set()
    if normalizer_name.startswith("NFC"):
        for c in EVERYTHING:
            # Alone, after a mark of a high class, and before one of a low class.
            for text in (chr(c), "a\u0345" + chr(c), "a" + chr(c) + "\u0334"):
                if normalizers.NFC().normalize_str(text) != unicodedata.normalize("NFC", text):
                    wrong.add(c)
    if normalizer_name.startswith("BertNormalizer"):
        wrong = {c for c in EVERYTHING if not bert_knows(chr(c))}
    return wrong


ACCENTS = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
CLEANING = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=True)


def bert_knows(c):
    def without_accents(text):
        return "".join(x for x in unicodedata.normalize("NFD", text) if unicodedata.category(x) != "Mn")

    kind = unicodedata.category(c)
    is_punctuation = kind[0] == "P" or (ord(c) < 128 and kind[0] == "S")
    is_control = kind in ("Cc", "Cf", "Co") and c not in "\t\n\r" or c == "\ufffd"
    cleaned = "" if is_control else " " if c.isspace() else c.lower()
    return (len(pre_tokenizers.BertPreTokenizer().pre_tokenize_str("a" + c)) == 2) == is_punctuation and \
        CLEANING.normalize_str(c) == cleaned and \
        all(ACCENTS.normalize_str(text) == without_accents(text) for text in (c, "a\u0345" + c, "a" + c + "\u0334"))


class HuggingFace:
    """An oracle that is a tokenizers.Tokenizer."""
    special = "special"
    sums_floats = False

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        tokenizer.no_truncation()
        tokenizer.no_padding()
        around = tokenizer.encode("a").ids
        plain = tokenizer.encode("a", add_special_tokens=False).ids
        start = next(i for i in range(len(around)) if around[i:i + len(plain)] == plain)
        self.before, self.after = around[:start], around[start + len(plain):]

    def encode_all(self, texts):
        return [encoding.ids for encoding in self.tokenizer.encode_batch(texts, add_special_tokens=False)]

    def decode_all(self, ids):
        return self.tokenizer.decode_batch(ids, skip_special_tokens=False)

    def unknown_code_points(self):
        return unknown_code_points(str(self.tokenizer.normalizer))


class SentencePiece:
    special = "plain"  # it takes special tokens in a text for text

    def __init__(self, model, sums_floats=False):
        self.sums_floats = sums_floats
        self.processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        bos = self.processor.bos_id()
        self.before, self.after = [bos] if bos >= 0 else [], []

    def encode_all(self, texts):
        return self.processor.encode(texts)

    def decode_all(self, ids):
        return [self.processor.decode(one) for one in ids]

    def unknown_code_points(self):
        return set()


def gpt2_oracle(metadata):
    tokens = [token.decode() for token in metadata["tokenizer.ggml.tokens"]]
    merges = [tuple(merge.decode().split(" ")) for merge in metadata["tokenizer.ggml.merges"]]
    tokenizer = tokenizers.Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|endoftext|>"])
    return tokenizer


def bert_oracle(metadata):
    tokens = []
    for token in metadata["tokenizer.ggml.tokens"]:
        token = token.decode()
        if token.startswith("\u2581"):
            token = token[1:]
        elif not (token.startswith("[") and token.endswith("]")):
            token = "##" + token
        tokens.append(token)
    tokenizer = tokenizers.Tokenizer(models.WordPiece({token: i for i, token in enumerate(tokens)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 102), ("[CLS]", 101))
    return tokenizer


def unigram_json(model, path):
    """A sentencepiece unigram model as tokenizer.json holds it."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    vocabulary = [(processor.id_to_piece(i), processor.get_score(i)) for i in range(processor.vocab_size())]
    tokenizer = tokenizers.Tokenizer(models.Unigram(vocabulary, processor.unk_id(), False))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFC(),
                                                 normalizers.Replace(tokenizers.Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.add_special_tokens(["<s>", "</s>", tokenizers.AddedToken("<pad>", lstrip=True, rstrip=True)])
    tokenizer.add_tokens([tokenizers.AddedToken("king", single_word=True, normalized=True)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", processor.bos_id()), ("</s>", processor.eos_id())])
    tokenizer.save(str(path))
    return tokenizer


def random_text(source, code_points, words):
    parts = []
    for _ in range(source.randrange(0, 12)):
        kind = source.randrange(7)
        if kind == 0:
            parts.append("".join(chr(source.choice(code_points)) for _ in range(source.randrange(1, 6))))
        elif kind == 1:
            start = source.randrange(len(code_points))
            block = code_points[start:start + 64]
            parts.append("".join(chr(source.choice(block)) for _ in range(source.randrange(1, 8))))
        elif kind == 2:
            parts.append("".join(chr(source.randrange(32, 127)) for _ in range(source.randrange(1, 8))))
        elif kind == 3:
            parts.append(source.choice(SPACES))
        elif kind == 4:
            parts.append(source.choice(BITS))
        else:
            parts.append(source.choice(words) + source.choice(["", " ", " ", ", "]))
    return "".join(parts)


def cases_of(folder):
    """The texts of .inp files beside a vocabulary, with the ids of its .out file."""
    for inp in sorted(folder.glob("*.inp")):
        texts = inp.read_text(encoding="utf-8").split(SEPARATOR)
        lines = inp.with_suffix(".out").read_text().split("\n")
        yield inp, texts, [[int(number) for number in line.split()] for line in lines[:len(texts)]]


class Run:
    def __init__(self, arguments, work):
        self.arguments = arguments
        self.work = work
        self.data = arguments.models / "datasets"
        self.shakespeare = (self.data / "tinyshakespeare.txt").read_text()[:arguments.characters]
        self.names = (self.data / "names.txt").read_text()[:arguments.characters]
        self.words = sorted(set(self.shakespeare.split()))
        self.inputs = {inp.name: (texts, expected) for folder in ("tokenizers/llamacpp-vocabs", "tokenizers/qwen3")
                       for inp, texts, expected in cases_of(arguments.models / folder)}
        self.rows = []
        self.failed = False

    def texts(self, oracle):
        unknown = oracle.unknown_code_points()
        code_points = [c for c in EVERYTHING if c not in unknown]
        source = random.Random(self.arguments.seed)
        texts = [self.names]
        if oracle.sums_floats:
            # Over hundreds of thousands of tokens its sums lose the digits that decide between near equals.
            texts = ["\n".join(lines[i:i + 20]) for lines in (self.shakespeare.split("\n"), self.names.split("\n"))
                     for i in range(0, len(lines), 20)]
        texts += self.names.split("\n")[::10] + self.shakespeare.split("\n")[::10]
        for inputs, _ in self.inputs.values():
            texts += inputs
        # Equal sums in exact numbers ("I" + "II" and "II" + "I") are told apart by its roundings: about one in 100,000.
        count = min(self.arguments.count, 10000) if oracle.sums_floats else self.arguments.count
        texts += [random_text(source, code_points, self.words) for _ in range(count)]
        return texts, len(unknown)

    def compare(self, name, oracle, files, inp=None):
        if self.arguments.only and name not in self.arguments.only:
            return
        if inp is not None:
            texts, expected = self.inputs[inp]
            got = oracle.encode_all(texts)
            for text, ids, other in zip(texts, expected, got):
                if ids != other:
                    print(f"{name}: the oracle differs from {inp} on {text!r}: {other}, not {ids}")
                    self.failed = True
        texts, unknown = self.texts(oracle)
        ids = oracle.encode_all(texts)
        decoded = oracle.decode_all(ids)
        path = self.work / "cases"
        with open(path, "wb") as file:
            file.write(packed_numbers(oracle.before) + packed_numbers(oracle.after))
            for case in zip(texts, ids, decoded):
                file.write(packed_text(case[0]) + packed_numbers(case[1]) + packed_text(case[2]))
        large, seconds = None, None
        if not oracle.sums_floats:
            large, seconds = self.whole_text(oracle)
        for kind, tokenizer in files:
            summary = self.program(kind, oracle.special, tokenizer, path)
            speed = self.program(kind, oracle.special, tokenizer, large) if large else {}
            row = {"name": name, "from": pathlib.Path(tokenizer).name, "unicode_left_out": unknown,
                   "shakespeare_seconds": speed.get("encode_seconds"), "oracle_seconds": seconds, **summary}
            self.rows.append(row)
            print(json.dumps(row), flush=True)

    def whole_text(self, oracle):
        """A file of all of tinyshakespeare as one case, and the seconds that the oracle took for it."""
        start = time.perf_counter()
        ids = oracle.encode_all([self.shakespeare])[0]
        seconds = time.perf_counter() - start
        path = self.work / "large"
        with open(path, "wb") as file:
            file.write(packed_numbers(oracle.before) + packed_numbers(oracle.after) + packed_text(self.shakespeare) +
                       packed_numbers(ids) + packed_text(oracle.decode_all([ids])[0]))
        return path, round(seconds, 4)

    def program(self, kind, special, tokenizer, cases):
        result = subprocess.run([self.arguments.program, kind, special, tokenizer, cases], capture_output=True, text=True,
                                errors="replace")
        lines = result.stdout.strip().splitlines()
        if result.returncode != 0:
            self.failed = True
            print("\n".join(lines[:-1]) + result.stderr)
        return json.loads(lines[-1]) if lines and lines[-1].startswith("{") else {"error": result.stderr.strip()}

    def vocabulary(self, metadata, name):
        path = self.work / f"{name}.vocabulary"
        write_vocabulary(metadata, path)
        return "vocabulary", path

    def all(self):
        folder = self.arguments.models
        gguf = folder / "tokenizers/llamacpp-vocabs"
        read = lambda path: HuggingFace(tokenizers.Tokenizer.from_file(str(path)))
        smol = folder / "smollm2-135m-instruct"
        self.compare("smollm2", read(smol / "tokenizer.json"), [
            ("file", smol / "tokenizer.json"),
            self.vocabulary(read_metadata(next(smol.glob("*.gguf"))), "smollm2")])
        self.compare("qwen3", read(folder / "tokenizers/qwen3/tokenizer.json"),
                     [("file", folder / "tokenizers/qwen3/tokenizer.json")], "ggml-vocab-qwen2.gguf.inp")
        gpt2 = read_metadata(gguf / "ggml-vocab-gpt-2.gguf")
        self.compare("gpt2", HuggingFace(gpt2_oracle(gpt2)), [self.vocabulary(gpt2, "gpt2")],
                     "ggml-vocab-gpt-2.gguf.inp")
        phi3 = read_metadata(gguf / "ggml-vocab-phi-3.gguf")
        model = model_of_gguf(phi3)
        (self.work / "phi3.model").write_bytes(model)
        self.compare("phi3", SentencePiece(model), [self.vocabulary(phi3, "phi3"), ("file", self.work / "phi3.model")],
                     "ggml-vocab-phi-3.gguf.inp")
        bert = read_metadata(gguf / "ggml-vocab-bert-bge.gguf")
        self.compare("bert", HuggingFace(bert_oracle(bert)), [self.vocabulary(bert, "bert")],
                     "ggml-vocab-bert-bge.gguf.inp")
        self.compare("minilm", read(folder / "minilm-l6-v2/tokenizer.json"),
                     [("file", folder / "minilm-l6-v2/tokenizer.json")])
        stories = folder / "stories260k"
        self.compare("stories260k-json", read(stories / "tokenizer.json"), [("file", stories / "tokenizer.json")])
        self.compare("stories260k-model", SentencePiece((stories / "tokenizer.model").read_bytes()),
                     [("file", stories / "tokenizer.model")])
        self.trained()

    def trained(self):
        """Kinds that no file at hand has, trained on the spot."""
        corpus = self.work / "corpus.txt"
        corpus.write_text(self.shakespeare)
        for name, options in {
                "unigram": dict(model_type="unigram", vocab_size=2000, character_coverage=0.999),
                "unigram-bytes": dict(model_type="unigram", vocab_size=2000, byte_fallback=True,
                                      user_defined_symbols=["king", "<sep>"], normalization_rule_name="nfkc_cf"),
                "bpe-symbols": dict(model_type="bpe", vocab_size=1500, user_defined_symbols=["king", "<sep>", "  "],
                                    remove_extra_whitespaces=False, normalization_rule_name="identity"),
                "bpe-suffix": dict(model_type="bpe", vocab_size=1200, treat_whitespace_as_suffix=True,
                                   byte_fallback=True)}.items():
            if self.arguments.only and name not in self.arguments.only:
                continue
            model = train(corpus, **options)
            path = self.work / f"{name}.model"
            path.write_bytes(model)
            self.compare(name, SentencePiece(model, name.startswith("unigram")), [("file", path)])
            if name == "unigram":
                json_path = self.work / "unigram-json.json"
                oracle = HuggingFace(unigram_json(model, json_path))
                self.compare("unigram-json", oracle, [("file", json_path)])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="luminal_tokenizer_cases")
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=2000, help="random strings for each tokenizer")
    parser.add_argument("--characters", type=int, help="of tinyshakespeare and of names; all by default")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[])
    arguments = parser.parse_args()
    if not (arguments.models / "tokenizers").exists():
        print(f"SKIPPED: there is no {arguments.models / 'tokenizers'}; set LUMINAL_TEST_MODELS")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as work:
        run = Run(arguments, pathlib.Path(work))
        run.all()
    cases = sum(row.get("cases", 0) for row in run.rows)
    different = sum(row.get("different", 1) for row in run.rows)
    print(f"{len(run.rows)} tokenizers, {cases} texts, {different} different")
    sys.exit(1 if run.failed or different or not run.rows else 0)


main()
