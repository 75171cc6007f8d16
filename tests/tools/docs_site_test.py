"""The documentation builds as a site, with --strict, and has what it is made of: usage PROGRAM.

Without mkdocs, which tools/install-deps.sh --test puts into .venv, it is skipped.
"""
import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import mkdocs  # noqa: F401
except ImportError:
    print("SKIPPED: no mkdocs; run tools/install-deps.sh --test")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools/docs"))
import project  # noqa: E402
import tables  # noqa: E402


def text_of(page):
    return html.unescape(re.sub(r"<[^>]*>", "", page))


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.site = pathlib.Path(cls.folder.name) / "site"
        config = pathlib.Path(cls.folder.name) / "mkdocs.yml"
        config.write_text(f"INHERIT: {ROOT / 'mkdocs.yml'}\n"
                          f"docs_dir: {ROOT / 'docs'}\nhooks: [{ROOT / 'tools/docs/site_pages.py'}]\n"
                          f"extra: {{program: {json.dumps(str(PROGRAM))}}}\n")
        cls.build = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--config-file", config,
                                    "--site-dir", cls.site], text=True, capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def setUp(self):
        self.assertEqual(self.build.returncode, 0, self.build.stdout + self.build.stderr)

    def page(self, name):
        return (self.site / name).read_text()

    def test_nothing_is_fetched_from_elsewhere(self):
        pages = list(self.site.rglob("*.html"))
        self.assertGreater(len(pages), 30)
        fetched = re.compile(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="?(?:https?:)?//[^">]*')
        for path in pages:
            self.assertEqual(fetched.findall(path.read_text()), [], path)
        for path in self.site.rglob("site.css"):
            self.assertNotIn("//", path.read_text())

    def test_every_installed_header_is_in_the_reference(self):
        text = "".join(self.page(path) for path in self.site.glob("api/*.html"))
        headers = [header for headers in project.public_headers().values() for header in headers]
        self.assertGreater(len(headers), 60)
        for header in headers:
            self.assertIn(f'"{header}"', text_of(text), header)
        for name in ("Tensor", "softmax", "CompileOptions", "compile", "EGraph", "Session", "promote", "UserError"):
            self.assertRegex(text, f'<h3 id="{name}">', name)

    def test_the_reference_shows_no_bodies_and_nothing_private(self):
        pages = "".join(path.read_text() for path in self.site.glob("api/*.html"))
        code = text_of("".join(re.findall(r'<div class="[^"]*highlight">(.*?)</pre>', pages, re.DOTALL)))
        self.assertIn("class Tensor {", code)
        for never in ("private:", "LUMINAL_API ", "return ", "NodeId id_;"):
            self.assertFalse(never in code, never)

    def test_every_primitive_and_dtype_has_a_row(self):
        primitives, dtypes = text_of(self.page("tables/primitives.html")), text_of(self.page("tables/dtypes.html"))
        ops = re.findall(r"^OP\((\w+)", (ROOT / "luminal/graph/ops.def").read_text(), re.M)
        self.assertGreater(len(ops), 20)
        for op in ops:
            self.assertRegex(primitives, rf"\b{op}\b")
        for dtype in re.findall(r"^DTYPE\((\w+)", (ROOT / "luminal/shape/dtypes.def").read_text(), re.M):
            self.assertRegex(dtypes, rf"DType::{dtype}\b")

    def test_the_rules_are_those_that_the_program_lists(self):
        listed = subprocess.run([PROGRAM, "rules", "list"], text=True, capture_output=True, check=True).stdout
        program = [tuple(line.split()[:3]) for line in listed.splitlines()[1:]]
        self.assertGreater(len(program), 60)
        found = [rule[:3] for path in tables.rule_files() for rule in tables.rules_of_file(path)]
        self.assertEqual(sorted(found), sorted(program))
        page = text_of(self.page("tables/rules.html"))
        for name, _, _ in program:
            self.assertIn(name, page)

    def test_every_command_has_its_help(self):
        page = text_of(self.page("tables/commands.html"))
        commands = tables.subcommands(project.output_of(PROGRAM, "--help"))
        self.assertGreater(len(commands), 10)
        for command in [*commands, "rules test"]:
            self.assertIn(f"luminal {command}", page)
        self.assertIn("--print-after", page)

    def test_claims_and_examples_are_there(self):
        claims = text_of(self.page("tables/claims.html"))
        for name in re.findall(r"^  (\S+):", project.output_of(ROOT / "tools/claims", "list"), re.M):
            self.assertIn(name, claims)
        text = text_of(self.page("examples.html"))
        for path in project.examples():
            self.assertIn(path.name, text)

    def test_links_into_the_repository_lead_to_pages(self):
        self.assertRegex(self.page("llm.html"), r'href="examples.html#09_generate"')
        self.assertRegex(self.page("how-to/model.html"), r'href="\.\./api/llm.html#llm-decoder"')
        self.assertRegex(self.page("index.html"), r'href="architecture.html"')


if __name__ == "__main__":
    unittest.main()
