"""`luminal tune`: records from file to file. Usage: tune_test.py PROGRAM"""
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]
HEADER = '{"luminal_records": 1}\n'
# Lines that the library wrote: their sums are its own.
KERNEL = ('{"kind": "kernel", "kernel": "k", "device": "d", "compiler": "c", "seconds": 0.001, "low": 9e-04, "h'
    'igh": 0.0012, "samples": 10, "checked": true, "note": "n", "sum": "721e3d44c7e5da5ee34282267ef2cd757'
    '662d1dfdd21d9f82968f543cdc53740"}\n')
PLAN = ('{"kind": "plan", "question": {"hex": "7100ff"}, "device": "d", "compiler": "c", "plan": {"bytes": "p'
    'lan", "rank": 2, "sum": "f353090db87345d8b6714de24b252a2eeabb0d810d2f1009d6310212e6b16909"}, "compar'
    'isons": [{"champion": "a", "challenger": "b", "ratio": 1.5, "low": 1.25, "high": 2.0, "rounds": 7, "'
    'sum": "5946d06d32cc5951e69169fbea3e4fdeb9b5ee118e6dbf2f6a5684fef8b55523"}]}\n')


def run(*arguments, text="", cache=None):
    environment = {**os.environ, **({"XDG_CACHE_HOME": str(cache)} if cache else {})}
    return subprocess.run([PROGRAM, "tune", *map(str, arguments)], input=text, capture_output=True, text=True,
                          env=environment)


class Tune(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.records = self.folder / "records.sqlite"

    def imported(self):
        result = run("import", "-", "--records", self.records, text=HEADER + KERNEL + PLAN)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def assert_error(self, result, words):
        self.assertEqual(result.returncode, 1, result)
        self.assertIn(words, result.stderr)
        self.assertEqual(result.stdout, "")

    def test_help_shows_examples(self):
        result = run("--help")
        self.assertEqual(result.returncode, 0)
        for command in ("export", "import", "merge", "stats", "prune"):
            self.assertIn(f"luminal tune {command}", result.stdout)
            self.assertIn("--records", run(command, "--help-all").stdout)

    def test_what_was_exported_comes_back(self):
        self.assertIn("kernels 1 new, 0 better, 0 known; plans 1 new", self.imported())
        self.assertIn("kernels 0 new, 0 better, 1 known", self.imported())
        self.assertEqual(run("export", "--records", self.records).stdout, HEADER + KERNEL + PLAN)
        file = self.folder / "lines"
        self.assertEqual(run("export", file, "--records", self.records).stdout, "")
        self.assertEqual(file.read_text(), HEADER + KERNEL + PLAN)
        result = run("import", file, "--records", self.folder / "other", "--json")
        self.assertEqual(json.loads(result.stdout)["kernels"], {"added": 1, "replaced": 0, "kept": 0})

    def test_the_users_own_file_is_in_the_cache_folder(self):
        self.assert_error(run("stats", cache=self.folder), "nothing has been recorded in it yet")
        self.assertEqual(run("import", "-", text=HEADER + KERNEL, cache=self.folder).returncode, 0)
        self.assertTrue((self.folder / "luminal/records.sqlite").is_file())
        self.assertIn("1 kernels, 0 plans", run("stats", cache=self.folder).stdout)

    def test_stats_say_what_there_is_and_what_is_damaged(self):
        self.imported()
        found = json.loads(run("stats", "--records", self.records, "--json").stdout)
        self.assertEqual((found["kernels"], found["plans"], found["comparisons"], found["damaged"]), (1, 1, 1, 0))
        self.assertEqual([device["name"] for device in found["devices"]], ["d"])
        with sqlite3.connect(self.records) as database:
            database.execute("UPDATE kernels SET seconds = 0.0005")
        result = run("stats", "--records", self.records)
        self.assertIn("0 kernels, 1 plans", result.stdout)
        self.assertIn("1 damaged, not used", result.stdout)
        self.assertIn("its checksum doesn't match", result.stdout)
        result = run("export", "--records", self.records)
        self.assertEqual((result.returncode, result.stdout), (0, HEADER + PLAN))
        self.assertIn("1 refused", result.stderr)
        result = run("merge", self.records, "--records", self.folder / "other")
        self.assertEqual(result.returncode, 0)
        self.assertIn("plans 1 new", result.stdout)
        self.assertIn("1 refused", result.stderr)
        self.assertIn("1 damaged", run("prune", "--records", self.records).stdout)
        self.assertEqual(json.loads(run("stats", "--records", self.records, "--json").stdout)["damaged"], 0)

    def test_import_says_which_lines_it_refused(self):
        text = HEADER + KERNEL.replace("0.001", "0.0011", 1) + "nonsense\n" * 30 + PLAN
        result = run("import", "-", "--records", self.records, text=text)
        self.assertEqual(result.returncode, 0)
        self.assertIn("kernels 0 new, 0 better, 0 known; plans 1 new", result.stdout)
        self.assertIn("<stdin>: 31 refused", result.stderr)
        self.assertIn("line 2: its checksum doesn't match", result.stderr)
        self.assertIn("and 11 more", result.stderr)

    def test_prune_by_age_device_compiler_and_size(self):
        def removed(*arguments):
            return json.loads(run("prune", *arguments, "--records", self.records, "--json").stdout)["kernels"]

        for arguments in (("--unused-for", "30"), ("--other-devices",), ("--other-compilers",), ("--to-size", "8KB")):
            with self.subTest(arguments):
                shutil.rmtree(self.records, ignore_errors=True)
                self.records.unlink(missing_ok=True)
                self.imported()
                with sqlite3.connect(self.records) as database:
                    database.execute("UPDATE kernels SET used = used - 100 * 86400")
                self.assertEqual(removed(), 0)
                self.assertEqual(removed("--unused-for", "101"), 0)
                self.assertEqual(removed("--to-size", "1GB"), 0)
                self.assertEqual(removed(*arguments, "--dry-run"), 1)
                self.assertEqual(removed(*arguments), 1)
                self.assertEqual(removed(*arguments), 0)

    def test_errors_name_the_way_out(self):
        self.assert_error(run("stats", "--records", self.folder), "is a folder; name a file in it")
        self.assert_error(run("import", self.folder / "absent", "--records", self.records), "can't read")
        self.assertFalse(self.records.exists())
        self.imported()
        self.assert_error(run("import", self.records, "--records", self.folder / "other"), "luminal tune merge")
        self.assert_error(run("merge", self.records, "--records", self.records), "can't be merged into itself")
        self.assert_error(run("export", "/dev/full", "--records", self.records), "free space")
        (self.folder / "text").write_text("hello\n" * 100)
        self.assert_error(run("merge", self.folder / "text", "--records", self.records), "isn't a file of tuning records")
        self.assertEqual(run("prune", "--unused-for", "-1", "--records", self.records).returncode, 2)
        self.assertEqual(run("prune", "--to-size", "much", "--records", self.records).returncode, 2)


class Disks(unittest.TestCase):
    """A full disk, and one that can't be written to: mounted for the test's processes alone."""

    def run_mounted(self, mount, script, text=""):
        command = ["unshare", "--map-root-user", "--mount", "sh", "-ec", f"{mount}\n{script}"]
        return subprocess.run(command, input=text, capture_output=True, text=True)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        probe = f"mount -t tmpfs -o size=256k none {self.folder}"
        if not shutil.which("unshare") or self.run_mounted(probe, "true").returncode != 0:
            self.skipTest("this user may not mount")

    def test_a_full_disk_is_named_and_nothing_is_lost(self):
        records = f"{self.folder}/records.sqlite"
        result = self.run_mounted(
            f"mount -t tmpfs -o size=256k none {self.folder}",
            f"{PROGRAM} tune import - --records {records} >/dev/null\n"
            f"dd if=/dev/zero of={self.folder}/rest bs=1k 2>/dev/null || true\n"
            f"truncate -s -40K {self.folder}/rest\n"  # room for the locks, and hardly for a log
            f"{PROGRAM} tune prune --records {records} >/dev/null || true\n"
            f"rm {self.folder}/rest; {PROGRAM} tune stats --records {records}", text=HEADER + KERNEL)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("the disk is full; free some space", result.stderr)
        self.assertIn("1 kernels, 0 plans", result.stdout)

    def test_records_on_a_read_only_disk_can_be_read(self):
        records = f"{self.folder}/records.sqlite"
        self.assertEqual(run("import", "-", "--records", records, text=HEADER + KERNEL).returncode, 0)
        read_only = f"mount --bind {self.folder} {self.folder}; mount -o remount,bind,ro {self.folder}"
        result = self.run_mounted(read_only, f"{PROGRAM} tune stats --records {records}")
        self.assertIn("1 kernels, 0 plans", result.stdout, result.stderr)
        result = self.run_mounted(read_only, f"{PROGRAM} tune prune --records {records}")
        self.assertEqual(result.returncode, 1)
        self.assertIn("check the permissions", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
