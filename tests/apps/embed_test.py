"""`luminal embed`. Usage: embed_test.py PROGRAM MODELS"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, MODELS = sys.argv[1], pathlib.Path(os.environ.get("LUMINAL_TEST_MODELS", sys.argv[2]))
MINILM = str(MODELS / "minilm-l6-v2")
# One thread: runs this small spend their time waiting for others where the machine is busy.
QUIET = ("--threads", "1")


def embed(*arguments, text=""):
    return subprocess.run([PROGRAM, "embed", *arguments, *QUIET], input=text, capture_output=True, text=True)


def golden():
    return json.loads((pathlib.Path(MINILM) / "golden_embeddings.json").read_text())


class Embed(unittest.TestCase):
    def test_every_text_is_a_line_of_json(self):
        sentences = golden()["sentences"]
        result = embed(MINILM, *sentences)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([line["text"] for line in lines], sentences)
        self.assertEqual([line["tokens"] for line in lines], [len(ids) for ids in golden()["ids"]])
        for line, expected in zip(lines, golden()["embedding_first16"]):
            self.assertEqual(len(line["embedding"]), 384)
            for a, b in zip(line["embedding"], expected):
                self.assertAlmostEqual(a, b, delta=2e-5)

    def test_lines_of_a_file_or_of_standard_input_are_texts(self):
        text = "one\n\ntwo words\r\n"
        result = embed(MINILM, "--format", "rows", text=text)
        rows = result.stdout.splitlines()
        self.assertEqual((result.returncode, len(rows)), (0, 3), result.stderr)
        self.assertTrue(all(len(row.split()) == 384 for row in rows))
        with tempfile.NamedTemporaryFile("w", newline="") as file:
            file.write(text)
            file.flush()
            self.assertEqual(embed(MINILM, "--format", "rows", "--file", file.name).stdout, result.stdout)

    def test_short_options_are_those_of_other_commands(self):
        long = embed(MINILM, "--format", "rows", "--file", "-", "--stats", text="one\ntwo\n")
        short = embed(MINILM, "--format", "rows", "-f", "-", "-v", text="one\ntwo\n")
        self.assertEqual((short.returncode, short.stdout), (0, long.stdout), short.stderr)
        for result in (short, long):
            self.assertRegex(result.stderr, r"compile +[\d.]+ s")

    def test_quiet_prints_no_notes(self):
        result = embed(MINILM, "word " * 400, "--format", "rows", "-q")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(len(result.stdout.split()), 384)
        result = embed(MINILM + "/nowhere", "x", "--quiet")
        self.assertEqual(result.returncode, 1)
        self.assertIn("there is no such folder", result.stderr)

    def test_similarity_is_the_matrix_of_cosines(self):
        for form, read, dtype, delta in (("json", json.loads, "f32", 1e-4),
                                         ("rows", lambda line: [float(word) for word in line.split(" ")], "bf16", 5e-3)):
            result = embed(MINILM, *golden()["sentences"], "--similarity", "--dtype", dtype, "--format", form)
            self.assertEqual(result.returncode, 0, result.stderr)
            rows = [read(line) for line in result.stdout.splitlines()]
            self.assertEqual(len(rows), 6)
            for row, expected in zip(rows, golden()["cosine"]):
                for a, b in zip(row, expected, strict=True):
                    self.assertAlmostEqual(a, b, delta=delta)

    def test_a_text_that_is_too_long_is_said(self):
        result = embed(MINILM, "short", "word " * 400, "--format", "rows", "--stats")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(result.stdout.splitlines()), 2)
        self.assertIn("luminal: text 2 has 402 tokens; the model reads the first 256\n", result.stderr)
        for pattern in (r"load +[\d.]+ s", r"compile +[\d.]+ s", r"pooling +the mean of all tokens, normalised to length 1",
                        r"texts +2 with 259 tokens, [\d.]+ ms each \(median\), \d+ tokens per second",
                        r"memory +\d+ MB resident: weights 90 MB"):
            self.assertRegex(result.stderr, pattern)

    def test_a_folder_that_does_not_say_how_to_pool_gets_the_mean(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("config.json", "tokenizer.json", "model.safetensors"):
                shutil.copy(pathlib.Path(MINILM) / name, folder)
            result = embed(folder, "A man is eating food.")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("has no modules.json that says what an embedding is: it is the mean of all tokens", result.stderr)
            found = json.loads(result.stdout)["embedding"]
            length = sum(x * x for x in found)**0.5
            self.assertNotAlmostEqual(length, 1, delta=0.1)
            for a, b in zip(found, golden()["embedding_first16"][0]):
                self.assertAlmostEqual(a / length, b, delta=2e-5)

    def test_what_cannot_be_is_said_with_the_way_out(self):
        gguf = str(MODELS / "smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf")
        for arguments, message in (
                ((str(MODELS / "stories260k"), "x"), "which writes text and gives no embeddings: use `luminal run`"),
                ((gguf, "x"), "it is a GGUF file, and only models that generate text are read from GGUF; give the folder of a BERT"),
                ((MINILM + "/nowhere", "x"), "there is no such folder; give the folder of a BERT model"),
                ((MINILM,), "there is no text to embed: give some after the model, or a file with --file")):
            with self.subTest(message):
                result = embed(*arguments)
                self.assertEqual(result.returncode, 1)
                self.assertIn(message, result.stderr)
        self.assertEqual(embed(MINILM, "x", "--file", "y").returncode, 2)
        self.assertEqual(embed(MINILM, "x", "--dtype", "f16").returncode, 2)

    def test_run_and_chat_name_this_command(self):
        for command in (("run", MINILM, "-p", "x"), ("chat", MINILM)):
            result = subprocess.run([PROGRAM, *command], input="", capture_output=True, text=True)
            self.assertEqual(result.returncode, 1)
            self.assertIn("which gives embeddings, not text: use `luminal embed`", result.stderr)


if __name__ == "__main__":
    if not pathlib.Path(MINILM).exists():
        print(f"SKIPPED: there is no {MINILM}; set LUMINAL_TEST_MODELS")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
