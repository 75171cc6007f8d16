"""docs/ops-signatures.md is what the public headers say, and has every operation; PyTorch has what it names.

Without PyTorch its names aren't looked up.
"""
import pathlib
import re
import sys
import unittest

try:
    import torch
except ImportError:
    torch = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools/docs"))
import ops_signatures  # noqa: E402

PAGE = (ROOT / "docs/ops-signatures.md").read_text()


class OpsSignatures(unittest.TestCase):
    def test_the_page_is_up_to_date(self):
        self.assertTrue(PAGE == ops_signatures.markdown(), "run tools/docs/ops_signatures.py --write")

    def test_every_exported_function_has_a_row(self):
        for path in [*ops_signatures.headers(), "luminal/graph/primitives.h"]:
            text = (ROOT / path).read_text()
            names = re.findall(r"^LUMINAL_API [^(;\n]*?(\w+)\(", text, re.M)
            names += re.findall(r"^LUMINAL_BINARY\((.+?)\);", text, re.M)
            self.assertTrue(names, path)
            for name in names:
                self.assertTrue(f"\n| `{name}` | " in PAGE, f"{path}: {name}")

    def test_overloads_share_a_row(self):
        (row,) = re.findall(r"\n\| `clamp` \|.*", PAGE)
        self.assertEqual(row.count("Tensor clamp("), 2)

    def test_a_comment_reaches_no_further_than_the_next(self):
        code = "// Two.\nTensor a();\nTensor b();\nTensor c();  // one\nTensor d();\n\nTensor e();"
        self.assertEqual([meaning for _, meaning in ops_signatures.declarations(code)], ["Two.", "Two.", "one", "", ""])

    @unittest.skipIf(torch is None, "no PyTorch")
    def test_pytorch_has_what_is_named(self):
        names = set(re.findall(r"\| `torch\.([\w.]+)` \|", PAGE))
        self.assertGreater(len(names), 100)
        for name in names:
            found = torch
            for part in name.split("."):
                found = getattr(found, part, None)
            self.assertIsNotNone(found, name)


if __name__ == "__main__":
    unittest.main()
