"""The LLM suite without models: settings, modes, processes and how they end, the database."""
import dataclasses
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))
from apps.bench.llm import database, jobs, options, picture, results, runner, settings, suite  # noqa: E402
from apps.bench.llm.paths import PATHS, Path  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
REQUEST = results.Request("fake", results.Settings(dtype="f32", prompt_tokens=4, decode_tokens=5, max_cache_len=10, threads=1,
                                                   warmups=1), iters=3)


def fake(ending, name="fake", dtypes=settings.DTYPES):
    return Path(name, "a fake", dtypes, module="fake_path", environment={"FAKE": ending, "PYTHONPATH": str(HERE)})


def run(ending, **limits):
    return runner.run(fake(ending), REQUEST, runner.Limits(**limits))


class Processes(unittest.TestCase):
    def test_samples_are_prefills_and_tokens(self):
        finished = run("ok")
        result = finished.result
        self.assertEqual(result.status, results.OK, result.error)
        self.assertEqual((len(result.ttft_samples), len(result.tpot_samples)), (3, 5))
        self.assertEqual(result.tokens, [7, 8, 9, 10, 11, 12])
        self.assertGreater(min(result.tpot_samples), 0.9)
        self.assertGreater(finished.memory_before, 0)
        self.assertGreater(finished.memory_after, 0)

    def test_every_end_has_a_status_and_a_reason(self):
        for ending, status, words in (("absent", results.ABSENT, "pip install"), ("raises", results.FAILED, "a fake mistake"),
                                      ("dies", results.FAILED, "ended on its own"),
                                      ("ends it all", results.OUT_OF_MEMORY, "by signal 9"),
                                      ("no memory", results.OUT_OF_MEMORY, "a fake tensor")):
            result = run(ending).result
            self.assertEqual(result.status, status)
            self.assertIn(words, result.error)

    def test_a_process_without_an_end_is_ended(self):
        result = run("hangs", seconds=0.5).result
        self.assertEqual((result.status, result.error), (results.TIMED_OUT, "no answer in 0.5 s"))

    def test_a_process_is_ended_before_the_machine_has_no_memory_left(self):
        self.assertEqual(run("ok", free_bytes=1 << 60).result.status, results.OUT_OF_MEMORY)

    def test_what_others_take_of_the_machine_is_seen(self):
        busy = runner.Busy()
        other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        time.sleep(0.5)
        share = busy.share()  # before it is waited for, it counts as someone else
        other.kill()
        other.wait()
        self.assertGreater(share, 0.2 / os.cpu_count())

    def test_memory_of_a_process_is_seen(self):
        self.assertGreater(run("grows").peak_rss, 200 << 20)

    def test_a_program_that_is_not_built_is_absent(self):
        (ours,) = [path for path in PATHS if path.program]
        for build_dir in ("", "/nowhere"):
            result = runner.run(ours, results.Request(ours.name, REQUEST.settings, build_dir=build_dir)).result
            self.assertEqual(result.status, results.ABSENT)
            self.assertIn("cmake --build", result.error)


class FakeWeights:
    """Sizes without files."""
    sizes = {"smollm2-135m": 1, "llama-1b": 10, "llama-8b": 80}

    def folder_of(self, model):
        return pathlib.Path("folder"), ""

    def gguf_of(self, model, dtype):
        return pathlib.Path("file")

    def bytes_of(self, config):
        return self.sizes[config.model.key]


def arguments(*words):
    chosen = options.read(list(words))
    chosen.cool_down = 0
    return chosen


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.connection = database.open_file(pathlib.Path(self.folder.name) / "deep/bench.db")
        self.settings = settings.read()

    def results_of(self, paths, names, *words, run=runner.run):
        chosen = arguments("--out", self.folder.name, *words)
        configs = [config for config in self.settings.configs if config.name in names]
        said = []
        todo = jobs.jobs_of(chosen, self.settings, configs, paths)
        suite.Suite(self.connection, FakeWeights(), chosen, said.append, run).run_all(todo, chosen.mode)
        return {(row["config"], row["path"], row["search_budget"]): row for row in database.results(self.connection)}, said

    def test_figures_are_kept(self):
        found, said = self.results_of([fake("ok")], ["smollm2-135m-bf16"], "--iters", "3", "--decode-tokens", "4")
        (row,) = found.values()
        self.assertEqual(row["status"], "ok")
        self.assertEqual((len(row["ttft_samples"]), len(row["tpot_samples"])), (3, 4))
        self.assertEqual(sorted(row["ttft_samples"])[1], round(row["ttft_ms"], 4))
        self.assertGreater(row["throughput_tps"], 0)
        self.assertEqual(row["compile_ms"], 12.5)
        for key in ("memory_before_mb", "memory_after_mb", "peak_rss_mb", "created_at"):
            self.assertTrue(row[key])
        self.assertTrue(any("first token" in line for line in said))
        (run,) = database.runs(self.connection)
        for key in ("timestamp", "device_name", "threads", "memory_mb", "kernel", "mode"):
            self.assertTrue(run[key], key)

    def test_a_path_out_of_memory_is_skipped_at_larger_settings_only(self):
        asked = []

        def run(path, request, limits):
            asked.append(request.path)
            status = results.OUT_OF_MEMORY if request.path == "large" else results.OK
            return runner.Finished(results.Result(status=status, ttft_samples=[1.0], tpot_samples=[1.0]), 0, 0, 0)

        found, _ = self.results_of([fake("", "large"), fake("", "small")],
                                   ["llama-1b-bf16", "smollm2-135m-bf16", "llama-8b-bf16"], run=run)
        status = {key[:2]: row["status"] for key, row in found.items()}
        self.assertEqual(status["smollm2-135m-bf16", "large"], results.OUT_OF_MEMORY)
        self.assertEqual(status["llama-1b-bf16", "large"], results.SKIPPED)
        self.assertEqual(status["llama-8b-bf16", "large"], results.SKIPPED)
        self.assertIn("smollm2-135m", found["llama-8b-bf16", "large", 0]["error"])
        self.assertEqual(status["llama-8b-bf16", "small"], results.OK)
        self.assertEqual(asked.count("large"), 1)

    def test_what_is_known_needs_no_process(self):
        def run(*_):
            raise AssertionError("nothing to run")

        found, _ = self.results_of([fake("")], ["qwen3-4b-bf16"], run=run)
        self.assertEqual(found["qwen3-4b-bf16", "fake", 0]["status"], results.NOT_BUILT)
        found, _ = self.results_of([fake("", dtypes=("f32",))], ["llama-1b-bf16"], run=run)
        self.assertEqual(found["llama-1b-bf16", "fake", 0]["status"], results.UNSUPPORTED)

    def test_an_absent_path_is_asked_once(self):
        found, _ = self.results_of([fake("absent")], ["smollm2-135m-bf16", "llama-1b-bf16"])
        self.assertEqual({row["status"] for row in found.values()}, {results.ABSENT})

    def test_runs_are_in_order_and_take_their_results_with_them(self):
        first = database.add_run(self.connection, "single", {})
        second = database.add_run(self.connection, "single", {})
        self.assertGreater(second, first)
        database.add_result(self.connection, {"run_id": first, "path": "p", "model": "m", "model_key": "m", "config": "c",
                                              "dtype": "f32", "status": "ok", "ttft_samples": [1.0]})
        self.connection.execute("DELETE FROM runs WHERE run_id = ?", (first,))
        self.assertEqual(database.results(self.connection), [])
        with self.assertRaises(sqlite3.IntegrityError):
            database.add_result(self.connection, {"run_id": 1, "path": "p", "model": "m", "model_key": "m", "config": "c",
                                                  "dtype": "f32", "status": "ok"})

    def test_files_that_are_no_database_say_so(self):
        file = pathlib.Path(self.folder.name) / "text"
        file.write_text("not a database, but long enough to be read as the beginning of one" * 20)
        with self.assertRaisesRegex(database.DatabaseError, "--db"):
            database.open_file(file)
        with self.assertRaisesRegex(database.DatabaseError, "there is no"):
            database.open_file(file.with_name("nothing"), create=False)


class Modes(unittest.TestCase):
    def setUp(self):
        self.settings = settings.read()
        self.configs = [config for config in self.settings.configs if config.default]

    def listed(self, *words):
        return jobs.jobs_of(arguments(*words), self.settings, self.configs, PATHS)

    def test_the_models_of_the_suite_are_there(self):
        self.assertLessEqual({"llama-8b", "qwen3-4b", "gemma3-4b", "gemma4-moe", "qwen3-moe", "llama-1b", "smollm2-135m"},
                             set(self.settings.models))
        one = {config.dtype for config in self.configs if config.model.key == "llama-1b"}
        self.assertEqual(one, {"bf16", "q8_0", "q4_0"})
        self.assertGreaterEqual(max(config.prompt for config in self.configs), 1024)

    def test_modes(self):
        every = len(self.configs) * len(PATHS)
        swept = 3 * sum(config.sweep for config in self.configs)
        for mode, count in (("all-configs", every), ("full-fast", every), ("full", every + swept), ("search-sweep", swept)):
            self.assertEqual(len(self.listed(mode)), count, mode)
        self.assertEqual(len(self.listed("full", "--no-sweep")), every)
        self.assertEqual({job.config.candidates for job in self.listed("search-sweep")}, {10, 100, 500})

    def test_other_prompts_and_dtypes_are_other_configurations(self):
        listed = self.listed("all-configs", "--dtype", "f32", "--prompt", "8")
        self.assertIn("llama-1b-bf16 (prompt 8, f32)", [job.config.name for job in listed])
        self.assertEqual(len(listed), len({(job.config.model.key, job.config.iters, job.path.name) for job in listed}))

    def test_a_models_name_stands_for_its_configurations(self):
        names = lambda *chosen: [config.name for config in settings.choose(self.settings.configs, chosen)]
        self.assertEqual(names("llama-1b"), ["llama-1b-bf16", "llama-1b-q8_0", "llama-1b-q4_0", "llama-1b-long"])
        self.assertEqual(names("smollm2-135m"), ["smollm2-135m-bf16"])  # what isn't a default must be named
        self.assertEqual(names("smollm2-135m-f32", "tiny"), ["smollm2-135m-f32", "tiny"])
        with self.assertRaisesRegex(settings.SettingsError, "there are"):
            settings.choose(self.configs, ["llama-2b"])

    def test_mistakes_in_settings_say_where(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "b.toml"
            text = settings.FILE.read_text()
            for wrong, words in ((text.replace('dtype = "q8_0"', 'dtype = "q9"'), "q9"),
                                 (text.replace('model = "llama-1b"', 'model = "llama"'), "isn't there"),
                                 (text.replace("iters = 2", "iter = 2"), "unknown fields"),
                                 (text.replace('name = "llama-8b-bf16"\n', 'name = "llama-1b-bf16"\n'), "same name"),
                                 ("[", "can't read")):
                file.write_text(wrong)
                with self.assertRaisesRegex(settings.SettingsError, words):
                    settings.read(file)

    def test_names_of_configurations_are_not_those_of_other_models(self):
        for config in self.settings.configs:
            self.assertTrue(config.name.startswith(config.model.key), config.name)
            self.assertEqual(dataclasses.replace(config), config)


class Picture(unittest.TestCase):
    def draw(self, rows, run=1):
        connection = database.open_file(pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "bench.db")
        self.addCleanup(connection.close)
        run_id = database.add_run(connection, "single", {"device_name": "a <machine>", "isa": "avx2", "threads": 2})
        for path, ms, status, budget in rows:
            database.add_result(connection, {"run_id": run_id, "path": path, "model": "m", "model_key": "m", "config": "c",
                                             "dtype": "bf16", "prompt_tokens": 128, "status": status, "tpot_ms": ms,
                                             "search_budget": budget})
        return picture.drawn(*picture.measured(connection, run_id if run else 5))

    def test_the_fastest_comes_first_and_what_failed_or_was_searched_for_longer_is_left_out(self):
        drawn = self.draw([("eager", 20.0, "ok", 0), ("luminal", 10.0, "ok", 0), ("luminal", 5.0, "ok", 500),
                           ("llama.cpp", 1.0, "failed", 0)])
        self.assertEqual(drawn.count("<rect"), 2)
        self.assertLess(drawn.index(">100<"), drawn.index(">50<"))
        self.assertIn("a &lt;machine&gt;", drawn)

    def test_a_run_without_results_is_an_error(self):
        for rows, run in (([], 1), ([("eager", 20.0, "ok", 0)], 0)):
            with self.assertRaises(picture.PictureError):
                self.draw(rows, run)


if __name__ == "__main__":
    unittest.main()
