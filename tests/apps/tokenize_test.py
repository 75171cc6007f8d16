"""`luminal tokenize` with every file that holds a tokenizer. Usage: tokenize_test.py PROGRAM MODELS"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, MODELS = sys.argv[1], pathlib.Path(os.environ.get("LUMINAL_TEST_MODELS", sys.argv[2]))
SMOLLM2 = MODELS / "smollm2-135m-instruct"
STORIES = MODELS / "stories260k"
VOCABULARIES = MODELS / "tokenizers/llamacpp-vocabs"
BETWEEN_CASES = "\n__ggml_vocab_test__\n"


def run(*arguments, text=""):
    return subprocess.run([PROGRAM, "tokenize", *map(str, arguments)], input=text.encode(), capture_output=True)


def ids(*arguments, text):
    result = run(*arguments, "--ids", text=text)
    if result.returncode != 0:
        raise AssertionError(result.stderr.decode())
    return [int(word) for word in result.stdout.split()]


class Tokenize(unittest.TestCase):
    def test_a_gguf_file_gives_what_the_other_files_of_its_model_give(self):
        gguf = SMOLLM2 / "SmolLM2-135M-Instruct.Q4_1.gguf"
        for case in json.loads((SMOLLM2 / "golden_tokenizer.json").read_text()):
            for source in (gguf, SMOLLM2 / "tokenizer.json"):
                self.assertEqual(ids(source, text=case["text"]), case["ids"], source)
        back = run(gguf, "--decode", text="19556 28 905 17")
        self.assertEqual(back.stdout, b"Hello, world!\n")
        listed = run(gguf, "-p", "Hello, world!")
        self.assertEqual(listed.stdout.decode().splitlines()[0], '  19556  "Hello"')

    def test_vocabularies_of_every_kind_give_their_golden_ids(self):
        for name in ("gpt-2", "phi-3", "bert-bge"):
            path = VOCABULARIES / f"ggml-vocab-{name}.gguf"
            cases = pathlib.Path(f"{path}.inp").read_text().split(BETWEEN_CASES)
            golden = pathlib.Path(f"{path}.out").read_text().splitlines()
            for case, line in list(zip(cases, golden))[:12]:
                with self.subTest(name, case=case):
                    self.assertEqual(ids(path, "--no-special", text=case), [int(word) for word in line.split()])

    def test_a_folder_and_both_of_its_files_agree(self):
        found = [ids(STORIES / name, text="Once upon a time") for name in ("", "tokenizer.json", "tokenizer.model")]
        self.assertEqual(found, [found[0]] * 3)

    def test_what_holds_no_tokenizer_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            bare = pathlib.Path(folder) / "bare.gguf"
            bare.write_bytes(b"GGUF" + (3).to_bytes(4, "little") + bytes(16))
            cut = pathlib.Path(folder) / "cut.gguf"
            cut.write_bytes(b"GGUF" + bytes(3))
            for path, message in ((bare, "holds no tokenizer: it lacks the metadata 'tokenizer.ggml.tokens'"),
                                  (cut, "gguf: "), (folder, "holds neither tokenizer.json nor tokenizer.model")):
                with self.subTest(message):
                    result = run(path, "-p", "x")
                    self.assertEqual(result.returncode, 1)
                    self.assertIn(message, result.stderr.decode())


if __name__ == "__main__":
    if not VOCABULARIES.exists():
        print(f"SKIPPED: there is no {VOCABULARIES}; set LUMINAL_TEST_MODELS")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
