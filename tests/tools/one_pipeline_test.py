"""One function runs the phases of planning: no other file calls two of them. Usage: one_pipeline_test.py SOURCE_DIR"""
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(sys.argv[1])
PHASES = ("lower_graph", "saturate", "extract_terms", "choose_terms", "plan_request", "find_plan")
RUNNER = "luminal/search/pipeline/phases.cpp"
# Runs rules of its own, over facts of its own, before planning: no plan comes of it.
PATTERNS = {"luminal/search/fusion/find_patterns.cpp": {"lower_graph", "saturate"}}


def phases_called(path):
    text = re.sub(r"//[^\n]*", "", path.read_text())
    # A class of the e-graph engine has a function of the same name.
    calls = re.findall(r"(?<!Schedule::)(?<!planner\.)\b(?:search::)?(\w+)\(", text)
    return {name for name in calls if name in PHASES and name != path.stem}


class OnePipeline(unittest.TestCase):
    def test_the_runner_runs_all_of_them(self):
        self.assertEqual(phases_called(SOURCE / RUNNER), set(PHASES))

    def test_no_other_file_calls_two(self):
        found = {str(path.relative_to(SOURCE)): phases_called(path)
                 for folder in ("luminal", "apps") for path in sorted((SOURCE / folder).rglob("*.cpp"))}
        self.assertGreater(len(found), 500)
        self.assertEqual({name: called for name, called in found.items() if len(called) > 1 and name != RUNNER}, PATTERNS)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
