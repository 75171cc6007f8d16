"""docs/pytorch-ops.md is what the table of operators says."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools/docs"))
import pytorch_ops  # noqa: E402


class PytorchOps(unittest.TestCase):
    def test_the_page_is_up_to_date(self):
        self.assertTrue(pytorch_ops.PAGE.read_text() == pytorch_ops.markdown(), "run tools/docs/pytorch_ops.py --write")

    def test_every_part_of_the_table_is_there(self):
        texts = [path.read_text() for path in pytorch_ops.TABLE.glob("*/*.cpp")]
        entries = sum(text.count('\n    {"') for text in texts if "constexpr OpEntry k" in text)
        self.assertEqual(sum(len(rows) for _, rows in pytorch_ops.parts()), entries)


if __name__ == "__main__":
    unittest.main()
