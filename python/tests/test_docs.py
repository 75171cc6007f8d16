"""The examples of README.md and docs/python.md run, and print what docs/python.md says."""
import contextlib
import io
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / "docs" / "python.md"
BLOCK = re.compile(r"^```(\S+)(.*)\n((?:.|\n)*?)^```$", re.MULTILINE)


class Examples(unittest.TestCase):
    def test_the_page(self):
        names, printed, ran = {}, None, 0
        for language, flags, text in BLOCK.findall(PAGE.read_text()):
            if language == "python" and "notest" not in flags:
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    exec(compile(text, PAGE.name, "exec"), names)
                printed, ran = out.getvalue(), ran + 1
            elif language == "text":
                self.assertEqual(printed, text)
        self.assertEqual(ran, 2)

    def test_the_readme(self):
        programs = [text for language, _, text in BLOCK.findall((ROOT / "README.md").read_text()) if language == "python"]
        self.assertEqual(len(programs), 1)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(programs[0], "README.md", "exec"), {})
        self.assertTrue(out.getvalue().startswith("[["))


if __name__ == "__main__":
    unittest.main()
