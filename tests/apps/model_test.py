"""`luminal run` and `luminal chat` with language models. Usage: model_test.py PROGRAM MODELS"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, MODELS = sys.argv[1], pathlib.Path(os.environ.get("LUMINAL_TEST_MODELS", sys.argv[2]))
STORIES = str(MODELS / "stories260k")
SMOLLM2 = str(MODELS / "smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf")
# One thread: steps this small spend their time waiting for others where the machine is busy.
ALONE = ("--threads", "1")
QUIET = (*ALONE, "--greedy")


def run(*arguments, text=""):
    return subprocess.run([PROGRAM, *arguments], input=text, capture_output=True, text=True)


class Run(unittest.TestCase):
    def test_a_story_goes_on(self):
        result = run("run", STORIES, "-p", "Once upon a time", "--max-tokens", "20", *QUIET)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, ", there was a little girl named Lily. She loved to play outsid\n")
        self.assertEqual(result.stderr, "")

    def test_the_prompt_may_come_from_standard_input(self):
        result = run("run", STORIES, "--max-tokens", "12", "--stop", "girl", *QUIET, text="Once upon a time")
        self.assertEqual((result.returncode, result.stdout), (0, ", there was a little \n"), result.stderr)

    def test_what_is_piped_in_follows_the_prompt(self):
        whole = run("run", STORIES, "-p", "Once upon\n\na time", "-n", "8", *QUIET)
        self.assertEqual(run("run", STORIES, "-p", "Once upon", "-n", "8", *QUIET, text="a time").stdout, whole.stdout)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "prompt.txt"
            file.write_text("Once upon\n")
            self.assertEqual(run("run", STORIES, "-f", str(file), "-n", "8", *QUIET, text="a time").stdout, whole.stdout)
            both = run("run", STORIES, "-f", str(file), "-p", "x")
            self.assertEqual(both.returncode, 2, both.stderr)

    def test_an_answer_may_be_json(self):
        result = run("run", STORIES, "-p", "Once upon a time", "-n", "4", "--json", *QUIET)
        found = json.loads(result.stdout)
        self.assertEqual((found["text"], found["tokens"], found["prompt_tokens"]), (", there was a", 4, 5))

    def test_a_seed_is_a_text(self):
        def sampled(seed):
            return run("run", STORIES, "-p", "Once", "--temperature", "1", "--top-k", "40", "--top-p", "0.95", "--min-p",
                       "0.01", "--repeat-penalty", "1.1", "--max-tokens", "20", *seed, *ALONE).stdout
        first = sampled(("--seed", "1"))
        self.assertEqual(first, sampled(("--seed", "1")))
        self.assertNotEqual(first, sampled(("--seed", "2")))
        self.assertGreater(len({sampled(()) for _ in range(4)}), 1)  # another seed each time

    def test_a_model_that_suggests_nothing_is_sampled_as_is_usual(self):
        told = ("run", STORIES, "-p", "Once", "--max-tokens", "20", "--stats", *ALONE)
        first = run(*told)
        seed = re.search(r"sampling +temperature 0.7, top-p 0.95, min-p 0.05, seed (\d+)", first.stderr)
        self.assertIsNotNone(seed, first.stderr)
        self.assertEqual(first.stdout, run(*told, "--seed", seed.group(1)).stdout)
        self.assertRegex(run(*told, "--greedy").stderr, "sampling +greedy")
        self.assertEqual(run(*told, "--greedy", "--temperature", "1").returncode, 2)

    def test_a_full_context_is_said(self):
        result = run("run", STORIES, "-p", "Once upon a time", "--context", "8", *QUIET)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, ", there was a\n")
        self.assertIn("the context of 8 tokens is full; --context makes it larger, up to 512", result.stderr)

    def test_figures_are_given_when_asked_for(self):
        result = run("run", STORIES, "-p", "Once upon a time", "--max-tokens", "9", "--stats", *QUIET)
        self.assertEqual(result.returncode, 0, result.stderr)
        for pattern in (r"load +[\d.]+ s", r"compile +[\d.]+ s", r"prompt +5 tokens, 0 of them in the cache, TTFT",
                        r"tokens +9, median TPOT [\d.]+ ms, [\d.]+ per second", r"[\d.]+ GB/s, \d+ % of the [\d.]+ GB/s",
                        r"cache of 512 tokens 1 MB", r"ended +as many tokens as asked for"):
            self.assertRegex(result.stderr, pattern)

    def test_a_trace_has_the_prompt_and_each_token(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/t.json"
            result = run("run", STORIES, "-p", "Once upon a time", "--max-tokens", "4", "--trace", path, *QUIET)
            self.assertEqual((result.returncode, result.stdout), (0, ", there was a\n"), result.stderr)
            self.assertRegex(result.stderr, r"^\d+ events written to .*t\.json\n$")
            events = json.loads(pathlib.Path(path).read_text())["traceEvents"]
        self.assertEqual(sum(event.get("cat") == "run" for event in events), 4)
        self.assertTrue(any("GB/s" in event.get("args", {}) for event in events))

    def test_what_cannot_be_is_said_with_the_way_out(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "model.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")
            (pathlib.Path(folder) / "config.json").write_text('{"model_type": "mamba"}')
            graph = pathlib.Path(folder) / "graph.txt"
            graph.write_text("")
            for name in ("model.pt", "model.onnx", "model.safetensors"):
                (pathlib.Path(folder) / "other").mkdir(exist_ok=True)
                (pathlib.Path(folder) / "other" / name).write_bytes(b"PK\x03\x04")
            for arguments, message in (
                    ((STORIES + "/nowhere", "-p", "x"), "there is no model"),
                    ((str(graph), "-p", "x"), "is not a model: give a GGUF file"),
                    ((folder + "/other/model.pt", "-p", "x"), "model.pt' is a PyTorch checkpoint, which is a pickle that can run code; save"),
                    ((folder + "/other/model.onnx",), "model.onnx' is an ONNX model, which isn't read yet; save the model as"),
                    ((folder + "/other/model.safetensors",), "a file of weights alone; give the folder that holds it"),
                    ((folder, "-p", "x"), "architecture 'mamba', which isn't supported; those that are: llama, mistral"),
                    ((STORIES, "-p", "word " * 600), "the model supports 512 at most"),
                    ((STORIES, "-p", "word " * 100, "--context", "20"), "ask for a context of up to 512"),
                    ((STORIES, "-p", "x", "--context", "9999"), "supports at most 512"),
                    ((STORIES, "-p", "x", "--top-p", "2"), "top-p is 2"),
                    ((STORIES, "-p", "x", "--system", "y"), "--system needs a chat template")):
                with self.subTest(message):
                    result = run("run", *arguments, *(QUIET if "-p" in arguments else ALONE))
                    self.assertEqual(result.returncode, 1, result.stderr)
                    self.assertIn(message, result.stderr)

    def test_options_of_graphs_and_models_do_not_mix(self):
        for option, value in (("--runs", "2"), ("--variants", "s=1")):
            graph = run("run", STORIES, "-p", "x", option, value)
            self.assertEqual(graph.returncode, 2)
            self.assertIn(option + ": ", graph.stderr)
        model = run("run", "-", "--temperature", "1")
        self.assertEqual(model.returncode, 2)
        self.assertIn("'-' is not a language model", model.stderr)
        self.assertIn("Language models:", run("run", "--help").stdout)

    def test_the_capital_of_france_is_paris(self):
        if not pathlib.Path(SMOLLM2).exists():
            self.skipTest(f"there is no {SMOLLM2}")
        result = run("run", SMOLLM2, "-p", "What is the capital of France?", "--context", "512", *QUIET)
        self.assertEqual(result.stdout, "The capital of France is Paris.\n", result.stderr)


class Inspect(unittest.TestCase):
    def test_the_first_line_says_what_it_is_and_whether_it_runs(self):
        first = run("inspect", STORIES).stdout.splitlines()[0]
        self.assertEqual(first, "llama, 260032 parameters, safetensors F32, context 512, 1.0 MB; runs here: yes")


class Chat(unittest.TestCase):
    def test_a_second_turn_reuses_the_cache_and_a_reset_forgets(self):
        if not pathlib.Path(SMOLLM2).exists():
            self.skipTest(f"there is no {SMOLLM2}")
        lines = ["What is the capital of France?", "And of Italy?", "/nonsense", "/reset", "", "What is the capital of France?",
                 "/quit", "never said"]
        result = run("chat", SMOLLM2, "--context", "512", "--max-tokens", "12", "--stats", *QUIET, text="\n".join(lines))
        self.assertEqual(result.returncode, 0, result.stderr)
        answers = result.stdout.splitlines()
        self.assertEqual(answers[0], "The capital of France is Paris.")
        self.assertEqual(answers[-1], answers[0])
        self.assertIn("Rome", answers[1])
        self.assertIn("there is no command '/nonsense'; /help lists them", result.stderr)
        prompts = [tuple(map(int, found))
                   for found in re.findall(r"prompt +(\d+) tokens, (\d+) of them in the cache", result.stderr)]
        self.assertEqual(len(prompts), 3)
        self.assertEqual(prompts[0], (37, 0))
        # The first turn's prompt and answer, without the token that ended it.
        self.assertEqual(prompts[1][1], 37 + 7)
        # Both conversations begin alike, up to the token that is run for its logits.
        self.assertEqual(prompts[2], (37, 36))

    def test_a_conversation_that_is_too_long_is_said(self):
        if not pathlib.Path(SMOLLM2).exists():
            self.skipTest(f"there is no {SMOLLM2}")
        result = run("chat", SMOLLM2, "--context", "48", "--system", "Be brief.", *QUIET, text="word " * 60 + "\n/reset\nHi!\n")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("the context has room for 48: shorten it, or start with a larger --context", result.stderr)
        self.assertGreaterEqual(result.stdout.count("\n"), 1)

    def test_a_model_that_only_continues_text_is_refused(self):
        result = run("chat", STORIES, *QUIET)
        self.assertEqual(result.returncode, 1)
        self.assertIn("has no chat template: it continues text; use `luminal run` with -p", result.stderr)


if __name__ == "__main__":
    if not pathlib.Path(STORIES).exists():
        print(f"SKIPPED: there is no {STORIES}; set LUMINAL_TEST_MODELS")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
