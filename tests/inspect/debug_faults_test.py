"""Planted faults that `luminal debug-ops` must name, from its JSON. Usage: debug_faults_test.py PROGRAM MODELS

PROGRAM is luminal_debug_faults: the mistakes of debug_mistakes.py are compiled into it. Each fault is
one test: with it the report has the expected cause as its first, at the expected place, and the
exit code is 1; without it, but otherwise the same, there is no cause.
"""
import json
import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from debug_mistakes import number  # noqa: E402

PROGRAM, MODELS = sys.argv[1], pathlib.Path(os.environ.get("LUMINAL_TEST_MODELS", sys.argv[2]))

LOGARITHM = """luminal-graph 1
%0 = input "x" : f32[8, 16]
%1 = mul %0 %0 : f32[8, 16]
%2 = {} : f32[8, 16]
%3 = log2 %2 : f32[8, 16]
%4 = add %3 %1 : f32[8, 16]
output "y" %4
"""
ROWS = """luminal-graph 1
%0 = weight "table" : f32[10, 4]
%1 = input "ids" : i64[6]
%2 = gather %0 %1 : f32[6, 4]
output "y" %2
"""
ROOT = """luminal-graph 1
%0 = input "x" : f32[5, 19]
%1 = mul %0 %0 : f32[5, 19]
%2 = sqrt %1 : f32[5, 19]
%3 = mul %2 %2 : f32[5, 19]
%4 = add %3 %2 : f32[5, 19]
output "y" %4
"""
SUMS = """luminal-graph 1
%0 = input "x" : f32[5, 9]
%1 = mul %0 %0 : f32[5, 9]
%2 = reduce sum %1 : f32[5]
output "y" %2
"""
# Apart by --fusion never: what is stored is read transposed, or once more at the end.
TURNED = """luminal-graph 1
%0 = input "x" : f32[64, 64]
%1 = exp2 %0 : f32[64, 64]
%2 = view %1 [i1, i0] : f32[64, 64]
%3 = sin %2 : f32[64, 64]
%4 = mul %3 %3 : f32[64, 64]
output "y" %4
"""
READ_AGAIN = """luminal-graph 1
%0 = input "x" : f32[8, 16]
%1 = exp2 %0 : f32[8, 16]
%2 = sin %1 : f32[8, 16]
%3 = mul %2 %2 : f32[8, 16]
%4 = add %1 %3 : f32[8, 16]
output "y" %4
"""
# Rules about the root of ROOT.
WRONG_RULE = """(ruleset mine.exact)
(rewrite (Sqrt x) x :ruleset mine.exact :name "roots-vanish")
"""
JOINED = """(ruleset mine.exact)
(rewrite (Sqrt x) (Cast "f16" x) :ruleset mine.exact :name "half-roots")
"""
NO_DTYPE = """(ruleset mine.exact)
(rewrite (Sqrt x) (Cast "f32" (Recip (Cast "double" x))) :ruleset mine.exact :name "root-in-double")
"""
NO_KERNEL = """(ruleset mine.exact)
(rule ((= v (Sqrt x))) ((union v (Load (Store (Sin x)))) (delete (Sqrt x)))
  :ruleset mine.exact :name "roots-go-away")
"""
CYCLE = """(ruleset mine.exact)
(rule ((= v (Sqrt x))) ((union v (Recip (Recip v))) (delete (Sqrt x)))
  :ruleset mine.exact :name "turns-in-circles")
"""


def npy(path, kind, dims, values):
    header = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': {tuple(dims)!r}, }}"
    header = header.ljust((-(len(header) + 11)) % 64 + len(header)) + "\n"
    code = {"f4": "f", "i8": "q"}[kind]
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
                     struct.pack(f"<{len(values)}{code}", *values))
    return str(path)


def without_weight(folder, out, name):
    """A copy of a model that lacks one tensor."""
    shutil.copytree(folder, out, copy_function=shutil.copyfile)
    os.chmod(out, 0o755)
    data = (folder / "model.safetensors").read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header, data = json.loads(data[8 : 8 + size]), data[8 + size :]
    header.pop("__metadata__", None)
    del header[name]
    kept, packed = {}, b""
    for key, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        start, end = entry["data_offsets"]
        kept[key] = {**entry, "data_offsets": [len(packed), len(packed) + end - start]}
        packed += data[start:end]
    text = json.dumps(kept).encode()
    text += b" " * (-len(text) % 8)
    (out / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + packed)


class Faults(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def file(self, name, text):
        (self.folder / name).write_text(text)
        return str(self.folder / name)

    def report(self, *arguments, mistake="", cache="none"):
        result = subprocess.run([PROGRAM, str(number(mistake)), "debug-ops", *arguments, "--cache", cache, "--json", "-"],
                                capture_output=True, text=True)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual(result.returncode, 1 if report["causes"] else 0, result.stderr)
        return report

    def assert_right(self, *arguments, **options):
        causes = self.report(*arguments, **options)["causes"]
        self.assertEqual(causes, [], "a cause where nothing was planted")

    def assert_cause(self, name, *arguments, mistake="", cache="none", **place):
        causes = self.report(*arguments, mistake=mistake, cache=cache)["causes"]
        self.assertTrue(causes, f"nothing is said to be wrong; {name} was planted")
        first = causes[0]
        self.assertEqual((first["cause"], {key: first.get(key) for key in place}), (name, place), first)
        return first

    # What users get wrong.

    def test_an_op_that_makes_nan(self):
        wrong = self.file("wrong.lum", LOGARITHM.format("mul %0 %1"))
        self.assert_cause("nan-from-op", wrong, stage="run", op="%3 (log2)", found="nan")
        self.assert_right(self.file("right.lum", LOGARITHM.format("mul %1 %1")))

    def test_an_index_that_is_no_row(self):
        graph = self.file("rows.lum", ROWS)
        for values in ([3, 1, 4, 1, 5, 9], [3, 1, 4, 1, 10, 9]):
            ids = "ids=" + npy(self.folder / "ids.npy", "i8", [6], values)
            if max(values) < 10:
                self.assert_right(graph, "--input", ids)
            else:
                self.assert_cause("index-out-of-range", graph, "--input", ids, stage="data", op="%2 (gather)",
                                  element="[4]", found="10")

    def test_a_variable_that_is_bound_outside_of_its_bounds(self):
        self.assert_cause("bad-size", "mlp", "--bind", "s=5000", stage="graph", op="s", found="5000",
                          expected="1 … 4096")
        self.assert_right("mlp", "--bind", "s=5")

    def test_a_weight_that_the_file_has_not(self):
        model = MODELS / "stories260k"
        if not model.exists():
            self.skipTest(f"no {model}")
        name = "model.layers.2.mlp.up_proj.weight"
        without_weight(model, self.folder / "broken", name)
        self.assert_cause("missing-weight", str(self.folder / "broken"), stage="graph", op=name)
        self.assert_right(str(model), "--until", "data")

    def test_a_weight_with_nan(self):
        graph = self.file("rows.lum", ROWS)
        values = [float(i) for i in range(40)]
        self.assert_right(graph, "--input", "table=" + npy(self.folder / "t.npy", "f4", [10, 4], values))
        values[13] = math.nan
        self.assert_cause("nan-in-data", graph, "--input", "table=" + npy(self.folder / "t.npy", "f4", [10, 4], values),
                          stage="data", op="'table'", element="[3, 1]")

    def test_data_of_other_dims(self):
        graph = self.file("rows.lum", ROWS)
        data = "table=" + npy(self.folder / "t.npy", "f4", [9, 4], [1.0] * 36)
        self.assert_cause("wrong-data", graph, "--input", data, stage="data")
        self.assert_right(graph, "--input", "table=" + npy(self.folder / "t.npy", "f4", [10, 4], [1.0] * 40))

    def test_a_custom_kernel_that_computes_something_else(self):
        self.assert_cause("custom-kernel-disagrees", "fault-custom-kernel", stage="run",
                          kernel="own kernel of %5 (custom op 'twice')", element="[0, 7]")
        self.assert_right("custom")

    def test_a_custom_kernel_that_writes_outside(self):
        first = self.assert_cause("writes-outside", "fault-custom-outside", stage="run",
                                  kernel="own kernel of %5 (custom op 'twice')")
        self.assertIn("bytes past the end", first["why"])

    # What authors of rules get wrong. The graph of all of them is right without.

    def assert_rule_blamed(self, rules, cause, **place):
        graph = self.file("root.lum", ROOT)
        self.assert_cause(cause, graph, "--rules", self.file("mine.egg", rules), **place)
        self.assert_right(graph)

    def test_a_rule_that_is_not_true(self):
        self.assert_rule_blamed(WRONG_RULE, "wrong-rule", stage="run", rule="roots-vanish", kernel="kernel 0")

    def test_a_rule_that_joins_types(self):
        self.assert_rule_blamed(JOINED, "joined-types", stage="terms", rule="half-roots")

    def test_a_rule_that_loses_a_dtype(self):
        self.assert_rule_blamed(NO_DTYPE, "missing-dtype", stage="terms", rule="root-in-double",
                                why="there is no dtype 'double'")

    def test_a_rule_that_leaves_an_op_without_a_kernel(self):
        self.assert_rule_blamed(NO_KERNEL, "missing-lowering", stage="terms", rule="roots-go-away", op="%2 (sqrt)")

    def test_a_rule_that_needs_its_own_result(self):
        self.assert_rule_blamed(CYCLE, "cyclic", stage="terms", rule="turns-in-circles", op="%2 (sqrt)")

    # What developers of the compiler get wrong.

    def test_a_wrong_emitter(self):
        graph = self.file("root.lum", ROOT)
        self.assert_cause("wrong-code", graph, mistake="emitter", stage="run", op="sqrt")
        self.assert_right(graph)

    def test_a_wrong_tail(self):
        graph = self.file("root.lum", ROOT)
        self.assert_cause("wrong-tail", graph, "--threads", "1", mistake="tail", stage="run", kernel="kernel 0",
                          found="nan")
        self.assert_right(graph)

    def test_a_wrong_decision_to_work_in_place(self):
        graph = self.file("turned.lum", TURNED)
        self.assert_cause("wrong-in-place", graph, "--fusion", "never", mistake="in-place", stage="run",
                          kernel="kernel 1", ops=["sin"])
        self.assert_right(graph, "--fusion", "never")

    def test_a_buffer_that_is_given_away_too_early(self):
        graph = self.file("again.lum", READ_AGAIN)
        self.assert_cause("overwritten", graph, "--fusion", "never", mistake="lifetime", stage="run", ops=["add"],
                          culprit="kernel 1")
        self.assert_right(graph, "--fusion", "never")

    def test_a_trip_of_a_loop_that_reads_another_ones_weights(self):
        arguments = ("layers", "--rolling", "always")
        self.assert_cause("rolled-disagrees", *arguments, mistake="trip", stage="run",
                          evidence="with --rolling off it is right")
        self.assert_right(*arguments)
        self.assert_right("layers", "--rolling", "off", mistake="trip")

    def test_a_plan_in_the_wrong_order(self):
        arguments = ("mlp", "--fusion", "never")
        self.assert_cause("plan-order", *arguments, mistake="order", stage="plan", kernel="kernel 0")
        self.assert_right(*arguments)

    def test_a_wrong_lowering(self):
        graph = self.file("sums.lum", SUMS)
        self.assert_cause("wrong-lowering", graph, mistake="extent", stage="run", kernel="kernel 0", element="[0]")
        self.assert_right(graph)

    def test_code_in_the_cache_that_another_build_made(self):
        graph, cache = self.file("root.lum", ROOT), str(self.folder / "cache")
        self.assert_cause("wrong-code", graph, mistake="emitter", cache=cache)
        self.assert_cause("stale-cache", graph, cache=cache, stage="run", kernel="kernel 0")
        self.assert_right(graph, cache=str(self.folder / "another"))


if __name__ == "__main__":
    program = unittest.main(argv=sys.argv[:1], verbosity=2, exit=False)
    result = program.result
    wrong = len({test.id() for test, _ in result.failures + result.errors})
    named = result.testsRun - wrong - len(result.skipped)
    print(f"{named} of {result.testsRun - len(result.skipped)} planted faults named")
    sys.exit(0 if result.wasSuccessful() else 1)
