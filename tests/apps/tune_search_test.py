"""`luminal tune MODEL|GRAPH`, and later commands that use what it found. Usage: tune_search_test.py PROGRAM MODELS"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, MODELS = sys.argv[1], pathlib.Path(os.environ.get("LUMINAL_TEST_MODELS", sys.argv[2]))
GRAPH = str(pathlib.Path(__file__).parents[2] / "examples" / "feed_forward.lum")
STORIES = str(MODELS / "stories260k")
FOUND = "the tuning records, found by a search of "


class TuneSearch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # The user's records and cache are this test's own.
        self.environment = {**os.environ, "XDG_CACHE_HOME": folder.name}

    def run_luminal(self, *arguments, text=None):
        return subprocess.run([PROGRAM, *map(str, arguments)], input=text or "", capture_output=True, text=True,
                              env=self.environment, timeout=200)

    def tune(self, *arguments, expected=0):
        # Other tests may run beside this one.
        result = self.run_luminal("tune", *arguments, "--keep-busy-times")
        self.assertEqual(result.returncode, expected, result.stderr)
        return result

    def report(self, *arguments):
        result = self.run_luminal("compile", GRAPH, "--report", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def kernels(self):
        return json.loads(self.run_luminal("tune", "stats", "--json").stdout)["kernels"]

    def test_what_was_tuned_is_used_and_said(self):
        self.assertNotIn("tuning records", self.report())
        result = self.tune(GRAPH, "--candidates", "3")
        self.assertRegex(result.stdout, r"µs, [\d.]+ times as fast as the cost model's plan \([\d.]+ µs\), \d+ % of the roof")
        self.assertIn(f"recorded in {self.folder}/luminal/records.sqlite: compiles with the same options use it",
                      result.stdout)
        self.assertIn("plan from " + FOUND + "20 s", self.report())
        self.assertIn(FOUND, self.run_luminal("explain", GRAPH).stdout)
        self.assertNotIn(FOUND, self.report("--search", "modelled"))
        self.assertNotIn(FOUND, self.report("--records", "none"))
        self.assertNotIn(FOUND, self.report("--target", "sse2"))
        self.assertNotIn(FOUND, self.report("--numerics", "exact"))
        self.assertEqual(self.run_luminal("run", GRAPH, "--sequential").returncode, 0)

    def test_a_tuned_plan_is_the_same_byte_for_byte(self):
        self.tune(GRAPH, "--candidates", "4")
        plans = {self.run_luminal("compile", GRAPH, "--cache", "none", "--print-after", "plan", *mode).stdout
                 for mode in ((), (), ("--search", "replay"), ("--search", "measured", "--candidates", "2"))}
        self.assertEqual(len(plans), 1)

    def test_a_second_search_continues_the_first(self):
        first = json.loads(self.tune(GRAPH, "--candidates", "2", "--json").stdout)["searches"][0]
        self.assertEqual((first["mode"], first["recorded"], self.kernels()), ("measured", True, first["timed"]))
        again = self.tune(GRAPH, "--candidates", "2")
        self.assertIn("known from a search of 20 s; a larger --budget continues it", again.stdout)
        more = json.loads(self.tune(GRAPH, "--candidates", "6", "--json").stdout)["searches"][0]
        self.assertEqual(more["mode"], "measured")
        self.assertEqual(self.kernels(), first["timed"] + more["timed"])
        self.assertGreater(more["remembered"], 0)

    def test_an_interrupted_search_keeps_what_it_found(self):
        events = self.folder / "events"
        process = subprocess.Popen([PROGRAM, "tune", STORIES, "--budget", "150", "--keep-busy-times", "--search-events",
                                    str(events)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=self.environment)
        while process.poll() is None and not (events.exists() and events.read_text()):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=150)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(out.count(": it was interrupted"), 2)
        self.assertIn("recorded in ", out)
        # Prompts and single tokens have a plan each.
        explained = self.run_luminal("explain", STORIES).stdout
        self.assertEqual(explained.count(FOUND), 2, explained)

    def test_the_plans_of_a_model_are_those_that_run_uses(self):
        result = self.tune(STORIES, "--budget", "4", "--candidates", "3", "--threads", "1")
        self.assertRegex(result.stdout, r"(?m)^s = 1: .*\n(  .*\n)+s = 2 … 256: ")
        explained = self.run_luminal("explain", STORIES, "--threads", "1").stdout
        self.assertEqual(explained.count(FOUND), 2, explained)
        told = ("run", STORIES, "-p", "Once upon a time", "-n", "20", "--greedy", "--threads", "1")
        found, modelled = self.run_luminal(*told), self.run_luminal(*told, "--search", "modelled")
        self.assertEqual((found.returncode, found.stdout), (0, modelled.stdout), found.stderr)

    def test_progress_off_a_terminal_is_an_occasional_line(self):
        result = self.tune(STORIES, "--budget", "8")
        self.assertRegex(result.stderr, r"(?m)^search: \d+ s left, plan [12] of 2 \(s = .*\), best [\d.]+ .s, \d+ % of the "
                                        r"roofline, \d+ plans, \d+ kernels timed$")
        self.assertLess(len(result.stderr.splitlines()), 20)
        self.assertEqual(self.tune(GRAPH, "--candidates", "2", "--quiet").stdout, "")

    def test_what_is_not_recorded_is_a_failure(self):
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
        try:
            time.sleep(0.5)
            busy = self.run_luminal("tune", GRAPH, "--candidates", "2")
        finally:
            for other in others:
                other.kill()
                other.wait()
        self.assertEqual(busy.returncode, 1)
        self.assertRegex(busy.stderr, r"note: \d+ times were measured while other programs used up to")
        self.assertIn("what was found is not recorded; the notes above say why", busy.stderr)
        self.assertNotIn("recorded in ", busy.stdout)

    def test_errors_name_the_way_out(self):
        for arguments, code, message in (
                ((), 2, "`luminal tune` needs a graph, a model or a command"),
                (("statts",), 1, "there is no file or folder 'statts': did you mean 'stats'?"),
                ((GRAPH, "stats"), 2, "before the command 'stats': give one or the other"),
                (("--records", "x", "stats"), 2, "write it after the command 'stats'"),
                ((GRAPH, "--budgt", "4"), 2, "did you mean '--budget'?"),
                ((GRAPH, "--search", "modelled"), 2, "there is no option '--search'"),
                ((GRAPH, "--records", "none"), 1, "with --records none there is nothing to keep a plan in"),
                ((GRAPH, "--backend", "interp"), 1, "runs graphs as they are"),
                ((GRAPH, "--library", "measured"), 1, "leave --library out")):
            with self.subTest(arguments):
                result = self.run_luminal("tune", *arguments)
                self.assertEqual(result.returncode, code, result)
                self.assertIn(message, result.stderr)
        # A file of a command's name.
        (self.folder / "stats").write_text(pathlib.Path(GRAPH).read_text())
        self.tune(self.folder / "stats", "--candidates", "2")

    def test_a_graph_is_tuned_for_the_sizes_it_runs_at(self):
        text = pathlib.Path(GRAPH).read_text()
        if not re.search(r"\bs\b", text):
            self.skipTest("the graph has no variable")
        self.tune(GRAPH, "--bind", "s=16", "--candidates", "2")
        self.assertNotIn(FOUND, self.report())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
