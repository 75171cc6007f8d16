"""PyTorch's programs in the program `luminal`: every command that takes a graph takes a .pt2 file. Usage: programs_test.py PROGRAM SOURCE_DIR"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(SOURCE / "tests/hostile/pt2"))
from small_pt2 import BOOL, F32, LENGTH, Archive, floats, meta, node, tensor  # noqa: E402  (beside the bad archives)


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.archive = Archive()
        self.save()

    def save(self, name="model.pt2"):
        (self.folder / name).write_bytes(self.archive.bytes())

    def luminal(self, *arguments, code=0):
        result = subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stderr if code else result.stdout

    def outputs(self, rows):
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, 4), }}".encode().ljust(117) + b"\n"
        values = [0.5 * each for each in range(4 * rows)]
        (self.folder / "x.npy").write_bytes(b"\x93NUMPY\1\0v\0" + header + floats(*values))
        printed = self.luminal("run", "model.pt2", "--bind", f"s77={rows}", "--input", "x=x.npy", "--print")
        found = [float(each) for each in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", printed.split("=", 1)[1].split("model.pt2")[0])]
        # Column k of row r of its weight is r + 3k, of which the bias is r + 1.
        rows_of_x = [values[4 * row:4 * row + 4] for row in range(rows)]
        return found, [(sum(x * (r + 3 * k) for k, x in enumerate(row)) + r + 1) * 0.5 + 10 * (r + 1)
                       for row in rows_of_x for r in range(3)]

    def test_run_gives_what_the_program_computes(self):
        for rows in (2, 3, 5):
            found, expected = self.outputs(rows)
            self.assertEqual(found[-3 * rows:], expected)
        self.assertIn("s77", self.luminal("run", "model.pt2", "--bind", "s77=99", code=1))

    def test_the_name_does_not_matter(self):
        self.save("model.zip")
        self.assertIn("kernels", self.luminal("compile", "model.zip"))

    def test_other_commands_take_it_too(self):
        self.assertIn("kernel", self.luminal("compile", "model.pt2", "--report"))
        self.assertIn("linear first model.py:12", self.luminal("explain", "model.pt2"))
        self.assertIn("linear first model.py:12", self.luminal("graph", "print", "model.pt2"))
        self.assertIn("valid", self.luminal("graph", "verify", "model.pt2"))
        self.luminal("view", "model.pt2", "-o", "page.html")
        self.assertIn("linear first model.py:12", (self.folder / "page.html").read_text())
        self.assertIn("run", self.luminal("debug-ops", "model.pt2"))
        self.assertIn("recorded", self.luminal("tune", "model.pt2", "--budget", "1", "--keep-busy-times", "--records", "records.db", "--cache", "none"))

    def test_inspect_lists_inputs_sizes_outputs_weights_and_operators(self):
        text = self.luminal("inspect", "model.pt2")
        for line in ("model.pt2: exported program of torch 2.13.0, 19 elements in 4 weights, 76 B; runs here: yes",
                     "  x  f32[s77, 4]", "  s77  2 to 64", "  add  f32[s77, 3]", "  weight  f32[3, 4]  parameter       48 B",
                     "      1  aten.linear.default", "guards: 0"):
            self.assertIn(line + "\n", text)
        listing = json.loads(self.luminal("inspect", "model.pt2", "--json"))
        self.assertEqual(listing["operators"], {"aten.add.Tensor": 1, "aten.linear.default": 1, "aten.mul.Tensor": 1})
        self.assertEqual([each["role"] for each in listing["weights"]], ["parameter", "parameter", "buffer", "constant"])
        self.assertEqual((listing["runs_here"], listing["unsupported"], listing["bytes"]), (True, [], 76))

    def test_inspect_names_all_that_is_not_supported(self):
        for k in range(3):
            self.archive.call(f"aten.unknown{k % 2}.default", [("self", tensor(f"u{k - 1}"))], f"u{k}")
        self.save()
        text = self.luminal("inspect", "model.pt2")
        self.assertIn("runs here: no", text)
        self.assertIn("  aten.unknown0.default in first (/home/user/model.py:12: y = self.first(x)), 2 calls\n", text)
        listing = json.loads(self.luminal("inspect", "model.pt2", "--json"))
        self.assertEqual([(each["operator"], each["calls"], each["module"]) for each in listing["unsupported"]],
                         [("aten.unknown0.default", 2, "first"), ("aten.unknown1.default", 1, "first")])
        self.assertIn("2 operators aren't supported yet", self.luminal("run", "model.pt2", code=1))

    def test_graphs_within_calls_are_part_of_the_program(self):
        inner = {"inputs": [tensor("add"), tensor("x")], "outputs": [tensor("mul"), tensor("add"), tensor("mul")],
                 "nodes": [node("aten.mul.Tensor", [("self", tensor("add")), ("other", tensor("add"))], "mul")],
                 "tensor_values": {name: meta(F32, [LENGTH, 3]) for name in ("add", "mul")}}
        outer = {"inputs": [tensor("add")], "outputs": [tensor("a"), tensor("b"), tensor("c")], "nodes": [
            node("torch.ops.higher_order.wrap_with_set_grad_enabled",
                 [("", {"as_bool": True}), ("", {"as_graph": {"name": "inner", "graph": inner}}), ("", tensor("add")), ("", tensor("add"))],
                 "a", "b", "c")]}
        self.archive.nodes().append(node(
            "torch.ops.higher_order.invoke_subgraph",
            [("", {"as_graph": {"name": "outer", "graph": outer}}), ("", {"as_string": "outer_0"}), ("", tensor("add"))], "p", "q", "r"))
        self.archive.call("aten.sub.Tensor", [("self", tensor("p")), ("other", tensor("q"))], "difference")
        self.archive.call("aten.add.Tensor", [("self", tensor("difference")), ("other", tensor("r"))], "sum")
        self.save()
        found, before = self.outputs(2)
        self.assertEqual(found[-6:], [2 * each * each - each for each in before])

    def test_bools_of_other_bytes_are_an_error_when_they_are_read(self):
        self.archive.graph()["tensor_values"]["p_bias"] = meta(BOOL, [3])
        self.archive.weights["config"]["bias"]["tensor_meta"] = meta(BOOL, [3])
        self.archive.nodes()[0]["inputs"].pop()
        self.archive.call("aten.logical_not.default", [("self", tensor("p_bias"))], "not")
        self.archive.members["data/weights/weight_1"] = b"\0\1\1"
        self.save()
        self.luminal("run", "model.pt2")
        self.archive.members["data/weights/weight_1"] = b"\0\1\7"
        self.save()
        self.assertIn("tensor 'bias' of bools has a byte that is neither 0 nor 1", self.luminal("run", "model.pt2", code=1))

    def test_a_language_model_is_asked_for(self):
        self.assertIn("an exported PyTorch program, a graph and no language model",
                      self.luminal("run", "model.pt2", "-p", "hello", code=1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
