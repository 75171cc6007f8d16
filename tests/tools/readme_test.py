"""Programs that documents show in whole are those of examples/, and the links of the documents lead somewhere."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("apps", "cmake", "docs", "examples", "luminal", "python", "tests", "tools")
# Sentences that were true of a design, not of the code, or no longer are.
STALE = ("the backend's own rules", "nothing else rewrites", "measuring is still to come",
         "no heuristic that a measurement can't overrule", "no proofs")
NOT_OURS = {"format-inl.h"}  # of fmt


def documents():
    return [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


class Readme(unittest.TestCase):
    def test_the_first_program_is_the_example(self):
        blocks = re.findall(r"```cpp\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
        self.assertTrue(blocks, "README.md shows no C++")
        self.assertEqual(blocks[0], (ROOT / "examples/01_first_program.cpp").read_text())

    def test_the_output_shown_is_the_examples(self):
        expected = ROOT / "examples/01_first_program.out"
        if expected.exists():
            self.assertIn("```text\n" + expected.read_text() + "```", (ROOT / "README.md").read_text())

    def test_the_ported_model_is_the_example(self):
        page = (ROOT / "docs/port-pytorch.md").read_text()
        for name, language in (("port_pytorch.py", "python"), ("10_port_pytorch.cpp", "cpp")):
            text = (ROOT / "examples" / name).read_text()
            self.assertTrue(f"```{language}\n{text}```" in page, f"docs/port-pytorch.md doesn't show examples/{name} as it is")

    def test_links_lead_to_files(self):
        for document in documents():
            prose = re.sub(r"```.*?```|`[^`\n]*`", "", document.read_text(), flags=re.DOTALL)
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose):
                if "://" not in target and not target.startswith("mailto:"):
                    self.assertTrue((document.parent / target).exists(), f"{document.name} links to {target}")

    def test_sources_that_are_named_exist(self):
        files = {"/" + str(path.relative_to(ROOT)) for folder in FOLDERS for path in (ROOT / folder).rglob("*")}
        for document in documents():
            if document.name == "CHANGELOG.md":
                continue  # of the past too
            prose = re.sub(r"```.*?```", "", document.read_text(), flags=re.DOTALL)
            for name in re.findall(r"`([a-z][a-z0-9_/.-]*\.(?:h|cpp|py|def|cmake|sh))`", prose):
                found = name in NOT_OURS or any(file.endswith("/" + name) for file in files)
                self.assertTrue(found, f"{document.name} names {name}")

    def test_nothing_stale_is_said(self):
        for document in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
            text = " ".join(document.read_text().lower().split())
            for phrase in STALE:
                self.assertNotIn(phrase, text, document.name)


if __name__ == "__main__":
    unittest.main()
