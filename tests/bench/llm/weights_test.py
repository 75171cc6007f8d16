"""The LLM suite's weights: made once, the same in every file, scaled to the machine."""
import dataclasses
import filecmp
import json
import pathlib
import sys
import tempfile
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))
from apps.bench.llm import blocks, results, settings, weights  # noqa: E402

TINY = settings.read().models["tiny"]
UNTIED = dataclasses.replace(TINY, key="untied", shape={**TINY.shape, "tie_word_embeddings": False})
QUERIES = "model.layers.1.self_attn.q_proj.weight"


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.said = []
        self.made = self.weights("a")

    def weights(self, name):
        return weights.Weights(pathlib.Path(self.folder.name) / name, pathlib.Path("/nowhere"), 1 << 40, self.said.append)

    def request(self, dtype, model=TINY):
        return results.Settings(folder=str(self.made.folder_of(model)[0]), gguf=str(self.made.gguf_of(model, dtype)),
                                dtype=dtype, prompt_tokens=1, decode_tokens=1, max_cache_len=3, threads=1)

    def test_they_are_made_once_and_the_same_again(self):
        first = self.made.gguf_of(TINY, "q8_0")
        said = len(self.said)
        self.assertEqual(self.made.gguf_of(TINY, "q8_0"), first)
        self.assertEqual(len(self.said), said)
        second = self.weights("b").gguf_of(TINY, "q8_0")
        self.assertNotEqual(first, second)
        self.assertTrue(filecmp.cmp(first, second, shallow=False))
        folders = [made.folder_of(TINY)[0] / "model.safetensors" for made in (self.made, self.weights("b"))]
        self.assertTrue(filecmp.cmp(*folders, shallow=False))

    def test_what_was_not_finished_is_not_there(self):
        path = pathlib.Path(self.folder.name) / "half"

        def fail(partial):
            partial.write_text("half")
            raise OSError("no room")

        with self.assertRaises(OSError):
            weights.finished(path, fail)
        self.assertEqual(list(path.parent.iterdir()), [])

    def test_blocks_are_the_floats_rounded_in_the_same_order(self):
        floats = blocks.RequestWeights(self.request("bf16"))
        for dtype, error in (("q8_0", 0.006), ("q4_0", 0.13)):
            found = blocks.RequestWeights(self.request(dtype))
            for name in (QUERIES, "model.layers.0.mlp.down_proj.weight"):
                want, got = floats.matrix(name), found.matrix(name).f32()
                self.assertLess(np.abs(got - want).max() / np.abs(want).max(), error, f"{name} in {dtype}")

    def test_gguf_holds_rows_of_queries_in_its_own_order(self):
        rows = np.arange(8)[:, None]
        swapped = weights.swapped_rows(rows, 2, to_gguf=True)
        self.assertEqual(swapped[:, 0].tolist(), [0, 2, 1, 3, 4, 6, 5, 7])
        self.assertEqual(weights.swapped_rows(swapped, 2, to_gguf=False).tolist(), rows.tolist())

    def test_heads_that_are_not_shared_have_weights_of_their_own(self):
        found = blocks.RequestWeights(self.request("q8_0", UNTIED))
        self.assertFalse(np.array_equal(found.head().f32(), found.embedding()))
        shared = blocks.RequestWeights(self.request("q8_0"))
        self.assertTrue(np.array_equal(shared.head().f32(), shared.embedding()))

    def test_real_weights_that_are_not_there_are_random_and_that_is_said(self):
        model = dataclasses.replace(TINY, source="somewhere/model.gguf")
        folder, note = self.made.folder_of(model)
        self.assertIn("--models", note)
        self.assertEqual(json.loads((folder / "config.json").read_text())["hidden_size"], 256)

    def test_real_weights_are_read_from_gguf(self):
        source = self.made.gguf_of(TINY, "bf16")
        (source.parent / "tokenizer.json").write_bytes((self.made.folder_of(TINY)[0] / "tokenizer.json").read_bytes())
        made = weights.Weights(pathlib.Path(self.folder.name) / "c", source.parent, 1 << 40, self.said.append)
        folder, note = made.folder_of(dataclasses.replace(TINY, source=source.name))
        self.assertEqual(note, "")
        first = self.made.folder_of(TINY)[0]
        floats = [weights.Safetensors(one / "model.safetensors").f32(QUERIES) for one in (folder, first)]
        self.assertTrue(np.array_equal(*floats))


class Sizes(unittest.TestCase):
    def test_models_are_scaled_to_a_third_of_the_memory(self):
        shape = settings.read().models["llama-8b"].shape
        whole, note = weights.fitted(shape, 64 << 30)
        self.assertEqual((whole, note), (shape, ""))
        scaled, note = weights.fitted(shape, 24 << 30)
        self.assertIn(f"scaled: {scaled['num_hidden_layers']} of 32 layers", note)
        self.assertLessEqual(weights.n_bytes(scaled), (24 << 30) / 3)
        with self.assertRaisesRegex(settings.SettingsError, "one layer needs"):
            weights.fitted(shape, 1 << 30)

    def test_the_shapes_have_the_sizes_that_their_names_say(self):
        for key, billions in (("smollm2-135m", 0.1345), ("llama-1b", 1.236), ("llama-8b", 8.03)):
            self.assertAlmostEqual(weights.n_bytes(settings.read().models[key].shape) / 2e9, billions, delta=0.01 * billions)


if __name__ == "__main__":
    unittest.main()
