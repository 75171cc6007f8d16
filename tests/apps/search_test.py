"""luminal compile --search: measured once, remembered, replayed, interrupted."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = sys.argv[1]
GRAPH = pathlib.Path(__file__).parents[2] / "examples" / "feed_forward.lum"


class Search(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.records = pathlib.Path(self.folder.name) / "records.sqlite"

    def command(self, *arguments):
        return [PROGRAM, "compile", str(GRAPH), "--cache", "none", "--records", str(self.records), *arguments]

    def compile(self, *arguments):
        # Other tests may run beside this one.
        return subprocess.run(self.command("--keep-busy-times", *arguments), capture_output=True, text=True, timeout=200)

    def test_a_search_is_replayed_byte_for_byte(self):
        events = pathlib.Path(self.folder.name) / "events"
        first = self.compile("--search", "measured", "--budget", "4", "--search-events", str(events),
                             "--print-after", "plan")
        self.assertEqual(first.returncode, 0, first.stderr)
        kinds = [json.loads(line)["event"] for line in events.read_text().splitlines()]
        self.assertEqual(kinds[0], "candidate")
        self.assertEqual(kinds[-1], "stopped")
        for _ in range(3):
            again = self.compile("--search", "replay", "--print-after", "plan")
            self.assertEqual(again.stdout, first.stdout, again.stderr)

    def test_the_report_says_what_was_done(self):
        first = self.compile("--search", "measured", "--candidates", "2", "--report")
        self.assertIn("search (measured)", first.stdout)
        self.assertIn("stopped: ", first.stdout)
        self.assertIn("measured: ", first.stdout)
        again = self.compile("--search", "measured", "--candidates", "2", "--report")
        self.assertIn("search (remembered)", again.stdout)
        self.assertIn("from the tuning records", again.stdout)

    def test_times_measured_beside_other_programs_are_not_kept(self):
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
        try:
            time.sleep(0.5)
            busy = subprocess.run(self.command("--search", "measured", "--candidates", "2", "--report"),
                                  capture_output=True, text=True, timeout=200)
        finally:
            for other in others:
                other.kill()
                other.wait()
        self.assertRegex(busy.stdout, r"note: \d+ times were measured while other programs used up to [\d.]+ cores")
        self.assertNotEqual(self.compile("--search", "replay").returncode, 0)

    def test_a_replay_without_records_tells_the_way_out(self):
        replay = self.compile("--search", "replay")
        self.assertNotEqual(replay.returncode, 0)
        self.assertIn("--search measured", replay.stderr)

    def test_an_interrupted_search_keeps_its_champion(self):
        process = subprocess.Popen(self.command("--search", "measured", "--budget", "100", "--report"),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=100)
        if "tries in a row" in out:
            self.skipTest("the search was over before it could be interrupted")
        self.assertEqual(process.returncode, 0, errors)
        self.assertIn("stopped: it was interrupted", out)

    def test_wrong_options_are_named(self):
        for arguments in (["--search", "guessed"], ["--budget", "-1"], ["--candidates", "0"]):
            self.assertNotEqual(self.compile(*arguments).returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
