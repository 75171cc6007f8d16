"""examples/10_port_pytorch computes what the PyTorch model of examples/port_pytorch.py does: usage PROGRAM."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

from safetensors.numpy import load_file, save_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()


class Port(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        subprocess.run([sys.executable, "-B", ROOT / "examples/port_pytorch.py", cls.folder], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def run_port(self):
        return subprocess.run([PROGRAM, self.folder], text=True, capture_output=True)

    def test_the_values_are_pytorchs(self):
        done = self.run_port()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("11 weights loaded, 0 of the file left over", done.stdout)
        self.assertEqual(done.stdout.count("equal within tolerance"), 2, done.stdout)

    def test_a_weight_that_the_file_lacks_is_named(self):
        path = self.folder / "model.safetensors"
        weights = load_file(path)
        save_file({name.replace("norm.", "layer_norm."): weight for name, weight in weights.items()}, path)
        done = self.run_port()
        save_file(weights, path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("norm.weight", done.stderr)


if __name__ == "__main__":
    unittest.main()
