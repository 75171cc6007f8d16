"""The protocol of benchmarks: contestants in C++ and Python answer alike, and the harness survives whatever they do.

usage: protocol_test.py [PROTOCOL_CONTESTANT], the program of protocol_contestant.cpp
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))
from apps.bench.harness import protocol, rounds  # noqa: E402
from apps.bench.harness.contestant import Contestant, last_words  # noqa: E402
from apps.bench.harness.protocol import Refusal  # noqa: E402

IN_PYTHON = [sys.executable, "-B", HERE / "protocol_contestant.py"]
IN_CPP = [sys.argv.pop(1)] if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None
COMMANDS = [IN_PYTHON, *([IN_CPP] if IN_CPP else [])]


def script(text):
    """A process that prints and does what a program says."""
    return [sys.executable, "-c", text]


ANNOUNCED = 'print(\'{"contestant": "fake", "version": "1", "cases": ["counts"]}\', flush=True); '


class Answers(unittest.TestCase):
    def for_each(self):
        for command in COMMANDS:
            with self.subTest(command[-1]), Contestant(command, time_limit=60, stderr=subprocess.DEVNULL) as contestant:
                yield contestant

    def refused(self, contestant, case, **command):
        with self.assertRaises(Refusal) as raised:
            contestant.run(case, **command)
        return raised.exception

    def test_announcement(self):
        for contestant in self.for_each():
            self.assertEqual((contestant.name, contestant.version), ("fake", "1"))
            self.assertEqual(contestant.cases[:3], ["counts", "errs", "refuses"])
            self.assertEqual(contestant.settings,
                             {"step": 0.25, "name": "none", "flag": False, "samples": [], "confidence": 0.95})

    def test_runs_are_counted_by_times_or_seconds(self):
        for contestant in self.for_each():
            self.assertEqual(contestant.run("counts"), {"case": "counts", "seconds": [0.25], "runs": 1, "prepared": 1})
            self.assertEqual(contestant.run("counts", times=3)["seconds"], [0.25] * 3)
            self.assertEqual(contestant.run("counts", times=0)["seconds"], [])
            self.assertEqual(contestant.run("counts", seconds=1)["seconds"], [0.25] * 4)

    def test_a_case_is_prepared_again_only_for_other_settings(self):
        for contestant in self.for_each():
            last = None
            for step, prepared, runs in ((0.5, 1, 1), (0.5, 1, 2), (1, 2, 1), (0.5, 3, 1)):
                last = contestant.run("counts", settings={"step": step})
                self.assertEqual((last["prepared"], last["runs"], last["seconds"]), (prepared, runs, [step]))

    def test_errors_are_answers_and_the_next_command_is_fine(self):
        for contestant in self.for_each():
            error = self.refused(contestant, "errs")
            self.assertEqual((error.status, error.who), (protocol.FAILED, "fake"))
            self.assertIn("a planted error", str(error))
            error = self.refused(contestant, "refuses")
            self.assertEqual((error.status, str(error)), (protocol.UNSUPPORTED, "a planted refusal"))
            self.assertEqual(contestant.run("counts")["seconds"], [0.25])
            error = self.refused(contestant, "counts", write="/nowhere/file")
            self.assertEqual(error.status, protocol.UNSUPPORTED)

    def test_wrong_commands_say_what_is_right(self):
        for contestant in self.for_each():
            for command, words in (({"run": "nothing"}, "there is no case 'nothing'; there are counts, errs"),
                                   ({"run": "counts", "settings": {"steps": 1}}, "no setting 'steps'; there are step, name"),
                                   ({"run": "counts", "settings": {"step": "1"}}, "the setting 'step' is not like 0.25"),
                                   ({"run": "counts", "settings": {"flag": 1}}, "the setting 'flag' is not like false"),
                                   ({"run": "counts", "rounds": 1}, "a command has no field 'rounds'; it has run, times"),
                                   ({"run": "counts", "times": -1}, "times and seconds are 0 or more"),
                                   ({"run": 1}, "a command is"), ({}, "a command is"), ([], "a command is")):
                answer = contestant.ask(command)
                self.assertIn(words, answer.get("error", ""), command)
                self.assertEqual(answer["status"], protocol.FAILED)
            contestant.process.stdin.write(b"\n{broken\n")
            contestant.process.stdin.flush()
            self.assertIn("a command is", contestant.next_line()["error"])
            self.assertEqual(contestant.run("counts")["seconds"], [0.25])

    def test_a_contestant_ends_when_it_is_told_to_or_nobody_is_there(self):
        for contestant in self.for_each():
            contestant.quit()
            self.assertEqual(contestant.process.returncode, 0)
        for command in COMMANDS:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 1))

    def test_ends_without_an_answer_are_errors(self):
        for case, words in (("ends", "with code 3"), ("aborts", "by signal 6")):
            for contestant in self.for_each():
                error = self.refused(contestant, case)
                self.assertEqual(error.status, protocol.BROKEN)
                self.assertIn(words, str(error))
                self.assertEqual(self.refused(contestant, "counts").status, protocol.BROKEN)

    def test_answers_without_seconds_break_the_protocol(self):
        for contestant in self.for_each():
            self.assertEqual(self.refused(contestant, "forgets").status, protocol.BROKEN)

    def test_what_a_contestant_in_python_prints_is_not_taken_for_an_answer(self):
        with tempfile.TemporaryFile("w+") as errors:
            with Contestant(IN_PYTHON, stderr=errors) as contestant:
                self.assertEqual(contestant.run("prints"), {"case": "prints", "seconds": []})
                self.assertEqual(contestant.run("counts")["runs"], 1)
            self.assertEqual(last_words(errors), "rubbish | more rubbish")

    @unittest.skipUnless(IN_CPP, "no program given")
    def test_what_a_contestant_in_cpp_prints_is_an_error(self):
        with Contestant(IN_CPP) as contestant:
            self.assertIn("rubbish", str(self.refused(contestant, "prints")))


class Harness(unittest.TestCase):
    def refused(self, command, **options):
        with self.assertRaises(Refusal) as raised, Contestant(command, stderr=subprocess.DEVNULL, **options) as contestant:
            contestant.run("counts")
        return raised.exception

    def test_processes_that_are_no_contestants(self):
        for command, status, words in (
                (["/nowhere/program"], protocol.ABSENT, "can't be started"),
                (script(""), protocol.BROKEN, "with code 0"),
                (script("print('hello')"), protocol.BROKEN, "no JSON object: 'hello'"),
                (script("print('[1]')"), protocol.BROKEN, "no JSON object"),
                (script("print('{}')"), protocol.BROKEN, "announced itself by {}"),
                (script(ANNOUNCED + "input(); print('rubbish')"), protocol.BROKEN, "no JSON object: 'rubbish'"),
                (script(ANNOUNCED + "input(); print('{\"case\": \"another\", \"seconds\": []}')"), protocol.BROKEN,
                 "without its case"),
                (script(ANNOUNCED + "import os; os.close(0); os.close(1)"), protocol.BROKEN, "ended"),
                (script("print('{\"contestant\": \"fake\", \"error\": \"not there\", \"status\": \"absent\"}')"),
                 protocol.ABSENT, "not there")):
            error = self.refused(command)
            self.assertEqual((error.status, words in str(error)), (status, True), f"{command}: {error}")

    def test_a_process_that_hangs_is_ended_with_its_children(self):
        start = time.monotonic()
        hang = ANNOUNCED + "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
        error = self.refused(script(hang), time_limit=2)
        self.assertEqual((error.status, str(error)), (protocol.TIMED_OUT, "no answer in 2 s"))
        self.assertLess(time.monotonic() - start, 30)

    def test_a_watch_may_end_a_process(self):
        seen = []

        def watch(pid):
            seen.append(pid)
            if len(seen) > 3:
                raise Refusal("enough", "out of memory")

        error = self.refused(script(ANNOUNCED + "import time; time.sleep(60)"), watch=watch)
        self.assertEqual((error.status, len(seen), len(set(seen))), ("out of memory", 4, 1))

    def test_memory_is_limited(self):
        error = self.refused(script(ANNOUNCED + "input(); x = bytearray(4 << 30); print(len(x))"), memory=2 << 30)
        self.assertIn("with code 1", str(error))


class Rounds(unittest.TestCase):
    def test_sides_take_turns_and_the_first_changes(self):
        order = []
        sides = {name: lambda name=name: order.append(name) or len(order) for name in "abc"}
        results = rounds.interleaved(sides, 3, settle=0)
        self.assertEqual("".join(order), "abcbcacab")
        self.assertEqual(results, {"a": [1, 6, 8], "b": [2, 4, 9], "c": [3, 5, 7]})

    def test_intervals_are_the_sign_tests(self):
        self.assertEqual(rounds.interval(list(range(1, 11)), 0.95), (2, 9))
        self.assertEqual(rounds.interval(list(range(1, 11)), 0.99), (1, 10))
        self.assertEqual(rounds.interval([1.0] * 3), (0.0, float("inf")))

    def test_ratios(self):
        found = rounds.ratio([2.0] * 6, [1.0] * 6)
        self.assertEqual(found, {"ratio": 2.0, "low": 2.0, "high": 2.0, "rounds": 6})
        self.assertEqual(rounds.shown(found), "2.00 (2.00 … 2.00)")
        few = rounds.ratio([2.0], [1.0])
        self.assertEqual((few["low"], few["high"]), (0.0, None))
        self.assertIn("too few", rounds.shown(few))
        self.assertEqual(rounds.best([3, 1], [2, 5]), [2, 1])

    @unittest.skipUnless(IN_CPP, "no program given")
    def test_cpp_and_python_agree(self):
        noise = random.Random(1)
        with Contestant(IN_PYTHON) as one, Contestant(IN_CPP) as other:
            for n in (1, 5, 6, 7, 15, 21, 101):
                for confidence in (0.9, 0.95, 0.99):
                    samples = [noise.lognormvariate(0, 1) for _ in range(n)]
                    found = [side.run("statistics", settings={"samples": samples, "confidence": confidence})
                             for side in (one, other)]
                    self.assertEqual(*found)

    @unittest.skipUnless(IN_CPP, "no program given")
    def test_a_bench_that_runs_itself_prints_the_same_lines(self):
        run = lambda *words: subprocess.run([*IN_CPP, *words], capture_output=True, text=True, timeout=60)
        done = run("counts", "step=0.5", "--times", "2", "--json")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([line.get("contestant") for line in lines], ["fake", None])
        self.assertEqual(lines[1], {"case": "counts", "seconds": [0.5, 0.5], "runs": 2, "prepared": 1})
        done = run("counts", "step=0.5", "--times", "7")
        self.assertIn("500.000 ms, the median of 7 (500.000 ms … 500.000 ms)", done.stdout)
        done = run("errs", "counts")
        self.assertEqual((done.returncode, "a planted error" in done.stderr, "counts:" in done.stdout), (1, True, True))
        for words in (["nothing"], ["counts", "steps=1"]):
            self.assertEqual(run(*words).returncode, 1)
        for words in (["--no-such-option"], ["step=1"], ["--json"]):
            self.assertEqual(run(*words).returncode, 2)
        self.assertEqual(run("--help").returncode, 0)


if __name__ == "__main__":
    unittest.main()
