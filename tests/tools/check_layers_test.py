"""tools/check-layers.py finds each kind of planted violation, names its file and line, and nothing else."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools/check-layers.py"

CLEAN = {
    "luminal/LAYERS": "# a comment\nbase:\nshape: base\ngraph: base shape\n",
    "luminal/luminal.h": '#pragma once\n#include "luminal/graph/graph.h"\n',
    "luminal/version.h": "#pragma once\n",
    "luminal/base/CMakeLists.txt": "luminal_module(base SOURCES os/memory.cpp PUBLIC errors.h)\n",
    "luminal/base/errors.h": "#pragma once\n#include <string>\n",
    "luminal/base/check.h": "#pragma once\n",
    "luminal/base/os/memory.cpp": "#include <sys/mman.h>\nvoid f() { mmap(0, 0, 0, 0, 0, 0); ::close(1); }\n",
    "luminal/base/os/paths.cpp": '#include <cstdlib>\nconst char* f() { return std::getenv("HOME"); }\n',
    "luminal/shape/CMakeLists.txt": "luminal_module(shape SOURCES expr.cpp PUBLIC expr.h DEPS base LINKS fmt::fmt)\n",
    "luminal/shape/expr.h": '#pragma once\n#include "luminal/base/errors.h"\n#include <vector>\n',
    "luminal/shape/expr/expr.cpp": '#include "luminal/shape/expr.h"\n#include "luminal/base/check.h"\n#include <fmt/format.h>\n',
    "luminal/graph/CMakeLists.txt": "luminal_module(graph\n  SOURCES graph.cpp # one\n  PUBLIC graph.h\n  DEPS base shape)\n",
    "luminal/graph/graph.h": '#pragma once\n#include "luminal/shape/expr.h"\n',
    "luminal/graph/graph.cpp": '#include "luminal/graph/graph.h"\n// mmap(), getenv() and ::open( in a comment\n'
                               'const char* s = "getenv(";\nstruct S { void close(); };\nvoid f(S s) { s.close(); }\n',
    "examples/01_a.cpp": '#include "luminal/luminal.h"\nint main() {}\n',
    "apps/cli/main.cpp": '#include "luminal/base/check.h"\n#include <CLI/CLI.hpp>\n',
}


class CheckLayers(unittest.TestCase):
    def check(self, changes):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {**CLEAN, **changes}.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            result = subprocess.run([sys.executable, str(SCRIPT), "--root", folder], capture_output=True, text=True)
        return result.returncode, result.stdout.splitlines()[:-1]

    def assert_found(self, changes, place, words):
        code, problems = self.check(changes)
        self.assertEqual(code, 1)
        self.assertEqual(len(problems), 1, problems)
        self.assertTrue(problems[0].startswith(place + ": "), problems)
        self.assertIn(words, problems[0])

    def test_a_clean_project_passes(self):
        self.assertEqual(self.check({}), (0, []))

    def test_an_include_against_the_order(self):
        self.assert_found({"luminal/base/bad.cpp": '\n#include "luminal/graph/graph.h"\n'},
                          "luminal/base/bad.cpp:2", "'base' may not include 'graph'")

    def test_an_include_in_a_subfolder_counts_for_its_module(self):
        self.assert_found({"luminal/base/deep/bad.h": '#  include "luminal/shape/expr.h"\n'},
                          "luminal/base/deep/bad.h:1", "'base' may not include 'shape'")

    def test_an_include_missing_from_deps(self):
        self.assert_found({"luminal/graph/CMakeLists.txt": "luminal_module(graph PUBLIC graph.h DEPS base)\n"},
                          "luminal/graph/graph.h:2", "'shape' is missing from DEPS")

    def test_deps_against_the_order(self):
        self.assert_found({"luminal/base/CMakeLists.txt": "\nluminal_module(base PUBLIC errors.h DEPS graph)\n"},
                          "luminal/base/CMakeLists.txt:2", "LAYERS does not allow")

    def test_the_umbrella_inside_a_module(self):
        self.assert_found({"luminal/graph/bad.cpp": '#include "luminal/luminal.h"\n'},
                          "luminal/graph/bad.cpp:1", "umbrella")

    def test_a_module_missing_from_layers(self):
        self.assert_found({"luminal/extra/extra.h": "#pragma once\n"}, "luminal/extra:1", "missing from luminal/LAYERS")

    def test_a_layer_without_a_folder(self):
        self.assert_found({"luminal/LAYERS": CLEAN["luminal/LAYERS"] + "ghost: base\n"},
                          "luminal/LAYERS:5", "no folder luminal/ghost")

    def test_layers_out_of_order(self):
        code, problems = self.check({"luminal/LAYERS": "base: shape\nshape:\ngraph: base shape\n"})
        self.assertEqual(code, 1)
        self.assertIn("luminal/LAYERS:1: 'base' names 'shape', which is not on an earlier line", problems)

    def test_a_public_header_with_a_header_that_is_not(self):
        self.assert_found({"luminal/graph/graph.h": '#include "luminal/base/check.h"\n'},
                          "luminal/graph/graph.h:1", "not PUBLIC")

    def test_a_public_header_with_a_third_party_header(self):
        self.assert_found({"luminal/graph/graph.h": "#include <fmt/format.h>\n"},
                          "luminal/graph/graph.h:1", "not of the C++ standard library")

    def test_a_public_header_that_is_not_there(self):
        self.assert_found({"luminal/base/CMakeLists.txt": "luminal_module(base PUBLIC errors.h gone.h)\n"},
                          "luminal/base/CMakeLists.txt:1", "gone.h does not exist")

    def test_an_os_header_outside_its_place(self):
        for header in ("unistd.h", "sys/stat.h", "pthread.h", "sched.h", "fcntl.h", "dlfcn.h"):
            with self.subTest(header):
                self.assert_found({"luminal/base/other.cpp": f"#include <{header}>\n"},
                                  "luminal/base/other.cpp:1", "operating-system header")

    def test_an_os_header_in_a_header(self):
        self.assert_found({"luminal/base/os/memory.h": "#include <unistd.h>\n"},
                          "luminal/base/os/memory.h:1", "operating-system header")

    def test_an_os_call_outside_its_place(self):
        for call in ("munmap(p, 1)", "::open(path, 0)", "sched_yield()", "pthread_self()", "std::system(s)", "popen(s, m)"):
            with self.subTest(call):
                self.assert_found({"apps/cli/bad.cpp": f"\nvoid f() {{ {call}; }}\n"},
                                  "apps/cli/bad.cpp:2", "operating-system call")

    def test_the_environment_outside_its_place(self):
        self.assert_found({"luminal/base/os/memory.cpp": '\n\nauto v = std::getenv("X");\n'},
                          "luminal/base/os/memory.cpp:3", "environment")

    def test_a_relative_include(self):
        self.assert_found({"luminal/graph/bad.cpp": '#include "graph.h"\n'},
                          "luminal/graph/bad.cpp:1", "not a path from the repository's root")

    def test_an_include_of_nothing(self):
        self.assert_found({"luminal/graph/bad.cpp": '#include "luminal/graph/gone.h"\n'},
                          "luminal/graph/bad.cpp:1", "there is no")

    def test_a_long_example(self):
        self.assert_found({"examples/02_long.cpp": "\n" * 61}, "examples/02_long.cpp:61", "at most 60 lines")

    def test_an_example_that_includes_what_is_not_public(self):
        self.assert_found({"examples/02_inner.cpp": '#include "luminal/base/check.h"\n'},
                          "examples/02_inner.cpp:1", "not PUBLIC")

    def test_a_test_from_outside_that_includes_what_is_not_public(self):
        self.assert_found({"tests/extend/inner_test.cpp": '#include "luminal/base/check.h"\n'},
                          "tests/extend/inner_test.cpp:1", "a test from outside includes")

    def test_a_long_file(self):
        self.assert_found({"luminal/graph/long.cpp": "\n" * 601}, "luminal/graph/long.cpp:1", "601 lines")

    def test_a_full_folder(self):
        files = {f"tests/graph/t{i}.cpp": "" for i in range(31)}
        self.assert_found(files, "tests/graph:1", "31 source files")
        self.assertEqual(self.check(dict(list(files.items())[:30])), (0, []))

    ROOMS = {
        "luminal/graph/LAYERS": ".:\ntext: .\npasses: . text\n",
        "luminal/graph/text/print.h": '#include "luminal/graph/graph.h"\n',
        "luminal/graph/passes/verify.cpp": '#include "luminal/graph/text/print.h"\n',
    }

    def test_an_include_against_the_order_of_a_modules_folders(self):
        self.assertEqual(self.check(self.ROOMS), (0, []))
        self.assert_found({**self.ROOMS, "luminal/graph/text/bad.cpp": '\n#include "luminal/graph/passes/verify.h"\n',
                           "luminal/graph/passes/verify.h": "", "luminal/graph/passes/verify.cpp": ""},
                          "luminal/graph/text/bad.cpp:2", "'text' may not include 'passes' (luminal/graph/LAYERS)")

    def test_a_folder_missing_from_its_layers(self):
        self.assert_found({**self.ROOMS, "luminal/graph/more/more.h": ""}, "luminal/graph/more:1",
                          "missing from luminal/graph/LAYERS")

    def test_folders_that_include_each_other(self):
        self.assert_found({"apps/cli/help/page.h": '#include "apps/cli/command.h"\n',
                           "apps/cli/command.h": '\n#include "apps/cli/help/page.h"\n'},
                          "apps/cli/command.h:2", "apps/cli and apps/cli/help include each other")


if __name__ == "__main__":
    unittest.main()
