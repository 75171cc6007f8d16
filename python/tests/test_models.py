"""Language models: generation, streams, embeddings."""
import asyncio
import pathlib
import subprocess
import sys
import threading
import unittest

import numpy
import settings

import luminal as lm

STORY = "Once upon a time"


class Writing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not (settings.models / "stories260k").exists():
            raise unittest.SkipTest("no models in " + str(settings.models))
        cls.model = lm.load(settings.models / "stories260k", context=128)

    def test_a_text_and_its_pieces(self):
        pieces = []
        told = self.model.generate(STORY, max_tokens=20, temperature=0, on_text=lambda text: pieces.append(text) is None)
        self.assertEqual("".join(pieces), told.text)
        self.assertEqual((len(told.ids), told.reason), (20, "as many tokens as asked for"))
        again = self.model.generate(STORY, max_tokens=20, temperature=0)
        self.assertEqual(again.text, told.text)
        self.assertGreater(again.reused_tokens, 0)

    def test_a_stream_gives_the_same(self):
        told = self.model.generate(STORY, max_tokens=20, temperature=0)
        self.assertEqual("".join(lm.stream(self.model, STORY, max_tokens=20, temperature=0)), told.text)

    def test_leaving_a_stream_ends_it(self):
        for piece in lm.stream(self.model, STORY, max_tokens=100, temperature=0):
            break
        self.assertTrue(piece)
        self.assertEqual(threading.active_count(), 1)

    def test_an_error_of_a_stream_is_raised_where_it_is_read(self):
        with self.assertRaisesRegex(lm.UserError, "temperature"):
            list(lm.stream(self.model, STORY, temperature=-1))

    def test_other_tasks_run_while_the_model_writes(self):
        counted = 0

        async def count():
            nonlocal counted
            while True:
                counted += 1
                await asyncio.sleep(0)

        async def main():
            counter = asyncio.create_task(count())
            text = "".join([piece async for piece in lm.astream(self.model, STORY, max_tokens=20, temperature=0)])
            counter.cancel()
            return text

        text = asyncio.run(main())
        self.assertEqual(text, self.model.generate(STORY, max_tokens=20, temperature=0).text)
        self.assertGreater(counted, 10)

    def test_another_thread_counts_on(self):
        counted, stop = [0], threading.Event()

        def count():
            while not stop.is_set():
                counted[0] += 1

        thread = threading.Thread(target=count)
        thread.start()
        self.model.forget()
        before = counted[0]
        self.model.generate(STORY, max_tokens=60, temperature=0)
        self.assertGreater(counted[0] - before, 1000)
        stop.set()
        thread.join()

    def test_what_a_callback_returns_but_false_goes_on(self):
        pieces = []
        told = self.model.generate(STORY, max_tokens=5, temperature=0, on_text=pieces.append, on_prompt=print)
        self.assertEqual(len(told.ids), 5)
        ended = self.model.generate(STORY, max_tokens=50, temperature=0, on_text=lambda text: False)
        self.assertLess(len(ended.ids), 5)

    def test_a_model_is_not_called_from_its_own_callback(self):
        with self.assertRaisesRegex(lm.UserError, "it is at work"):
            self.model.generate(STORY, max_tokens=5, on_text=lambda text: self.model.forget())

    def test_a_program_may_end_while_a_stream_runs(self):
        program = ("import sys; sys.path.insert(0, sys.argv[1]); import luminal as lm; "
                   "pieces = lm.stream(lm.load(sys.argv[2], context=128), 'Once', temperature=0); print(next(pieces) != '')")
        ended = subprocess.run([sys.executable, "-c", program, str(pathlib.Path(lm.__file__).parents[1]),
                                str(settings.models / "stories260k")], capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stdout), (0, "True\n"), ended.stderr)

    def test_tokens_and_logits(self):
        ids = self.model.encode(STORY)
        self.assertIn(STORY, self.model.decode(ids))
        first = self.model.generate(STORY, max_tokens=1, temperature=0).ids[0]
        self.assertEqual(int(numpy.argmax(self.model.logits(ids))), first)

    def test_a_conversation_needs_a_template(self):
        self.assertFalse(self.model.chats)
        with self.assertRaises(lm.UserError):
            self.model.generate([{"role": "user", "content": "Hello"}])
        with self.assertRaisesRegex(lm.UserError, '"role" and "content"'):
            self.model.generate([{"role": "user"}])


class Embedding(unittest.TestCase):
    def test_rows_of_texts(self):
        if not (settings.models / "minilm-l6-v2").exists():
            self.skipTest("no models in " + str(settings.models))
        model = lm.load(settings.models / "minilm-l6-v2")
        near, same, far = numpy.asarray(model.embed(["A cat sits.", "A cat is sitting.", "Rates rose by a percent."]))
        self.assertGreater(near @ same, 0.8)
        self.assertLess(near @ far, 0.3)
        self.assertEqual(model.embed([]).shape, (0, 0))
        with self.assertRaisesRegex(lm.UserError, "generate: .* gives embeddings; use embed"):
            model.generate("x")


class Loading(unittest.TestCase):
    def test_what_is_no_model_is_refused(self):
        with self.assertRaisesRegex(lm.UserError, "nothing-here"):
            lm.load("nothing-here")


if __name__ == "__main__":
    unittest.main()
