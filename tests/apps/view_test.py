"""`luminal view`: the page opens, draws itself and answers clicks. Usage: view_test.py PROGRAM SOURCE_DIR MODELS

Pages are opened in headless Chromium; where there is none those tests are skipped, and say so.
"""
import html
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

from view_scripts import CLIPPED, KEYS

PROGRAM, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
MODELS = pathlib.Path(os.environ.get("LUMINAL_TEST_MODELS", sys.argv[3]))
STORIES = MODELS / "stories260k"
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FEED_FORWARD = SOURCE / "examples/feed_forward.lum"
HOSTILE = "</script><img src=x onerror=fail()>&amp; 'quoted' --><!--"
HOSTILE_GRAPH = f"""luminal-graph 1
%0 = input "{HOSTILE}" : f32[64, 32]
%1 = exp2 %0 : f32[64, 32]
%2 = mul %1 %1 : f32[64, 32]
output "{HOSTILE}" %2
"""

# The second kernel is the slower one, and its title is longer than any cell.
LAYERS_GRAPH = """luminal-graph 1
%0 = input "x" : f32[4, 8]
%1 = weight "layers.3.mlp.gate_proj.weight" : f32[8, 16]
%2 = view %0 [i0, i2] : f32[4, 16, 8]
%3 = view %1 [i2, i1] : f32[4, 16, 8]
%4 = mul %2 %3 : f32[4, 16, 8]
%5 = reduce sum %4 : f32[4, 16]
%6 = input "y" : f32[512, 2048]
%7 = weight "layers.30.a_name_without_a_place_to_break_it_that_is_much_longer_than_any_cell.weight" : f32[512, 2048]
%8 = mul %6 %7 : f32[512, 2048]
%9 = exp2 %8 : f32[512, 2048]
output "small" %5
output "large" %9
"""


def run(*arguments, text=""):
    return subprocess.run([PROGRAM, *arguments], input=text, capture_output=True, text=True)


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL).group(1))


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.kept.name)
        cls.pages = {}

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def page(self, name, *arguments, text=""):
        """The file of a page, made once."""
        path = self.folder / f"{name}.html"
        if name not in self.pages:
            result = run("view", *arguments, "--output", str(path), "--cache", str(self.folder / "cache"), text=text)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"written to {path}", result.stdout)
            self.pages[name] = path
        return path

    def feed_forward(self):
        return self.page("feed_forward", str(FEED_FORWARD), "--runs", "3")

    def layers(self):
        return self.page("layers", "-", "--runs", "0", text=LAYERS_GRAPH)

    def stories(self):
        return self.page("stories", str(STORIES), "--runs", "2", "--no-code")

    def opened(self, path, place="", size="1500,950"):
        """The page's DOM after it drew itself, without its scripts and data."""
        if BROWSER is None:
            self.skipTest("SKIPPED: no chromium to open pages with")
        command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={size}", "--enable-logging=stderr",
                   f"--user-data-dir={self.folder}/profile", "--virtual-time-budget=20000", "--dump-dom", f"file://{path}{place}"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        said = [line for line in result.stderr.splitlines() if "CONSOLE" in line]
        self.assertEqual(said, [], "the page wrote to the console")
        dom = re.sub(r"<script.*?</script>", "", result.stdout, flags=re.DOTALL)
        self.assertNotIn("data-failed", dom[:600])
        return dom

    def asked(self, path, place, script, size="1500,950"):
        """What a script that runs in the page hands to done()."""
        asking = self.folder / "asking.html"
        done = "const done = (answer) => { document.documentElement.dataset.answer = JSON.stringify(answer); };"
        asking.write_text(path.read_text().replace("</body>", f"<script>setTimeout(() => {{ {done} {script} }}, 500);</script></body>"))
        dom = self.opened(asking, place, size)
        return json.loads(html.unescape(re.search(r'data-answer="([^"]*)"', dom).group(1)))

    def rows(self, dom):
        """The kernels in the table's order, each with the text of its row."""
        rows = re.findall(r'<tr class="row[^"]*" data-kernel="([^"]*)"[^>]*>(.*?)</tr>', dom, re.DOTALL)
        return {name: html.unescape(re.sub(r"<[^>]*>", " ", row)) for name, row in rows}

    def panel(self, dom):
        return html.unescape(re.search(r'<aside id="panel">(.*?)</aside>', dom, re.DOTALL).group(1))

    def test_a_page_needs_nothing_but_itself(self):
        page = self.feed_forward().read_text()
        self.assertNotRegex(page, r'(?:src|href)="(?!data:)')
        self.assertIn("default-src 'none'", page)
        data = data_of(page)
        self.assertEqual(data["trace"]["plan_of_run"], [0, 0, 0])
        self.assertEqual(len(data["plans"]), 1)

    def test_it_draws_itself(self):
        dom = self.opened(self.feed_forward(), "#tab=graph")
        self.assertIn('data-drawn="graph"', dom)
        self.assertRegex(dom, r'<g class="box kernel"[^>]*data-kernel="kernel 0"')
        self.assertIn("Nothing selected", self.panel(dom))

    def test_it_opens_on_the_slowest_kernels_by_title(self):
        dom = self.opened(self.layers())
        self.assertIn('data-drawn="plan"', dom)
        rows = self.rows(dom)
        self.assertEqual(list(rows), ["kernel 1", "kernel 0"])
        self.assertRegex(rows["kernel 1"], r"^\s*layers\.30\.a_name_.* → large\s+kernel 1 ")
        self.assertIn("layers.3.mlp.gate_proj → small", rows["kernel 0"])

    def test_tabs_with_marks_have_a_legend(self):
        for tab, meaning in {"plan": "roofline: the least time", "graph": "share of the plan's time", "trace": "a host step or copy",
                             "e-graph": "the rule that made a term"}.items():
            with self.subTest(tab):
                legend = re.search(r'<div class="legend">.*?</div>', self.opened(self.feed_forward(), f"#tab={tab}"), re.DOTALL)
                self.assertIn(meaning, legend.group(0))

    def test_graph_and_trace_show_titles(self):
        for tab in ("graph", "trace"):
            with self.subTest(tab):
                self.assertRegex(self.opened(self.feed_forward(), f"#tab={tab}"), r"<text[^>]*>norm → up · gate")

    def test_a_search_finds_kernels(self):
        for search, found in {"layers.3": ["kernel 0"], "layers.*": ["kernel 1", "kernel 0"], "exp2": ["kernel 1"], "reduce": ["kernel 0"],
                              "%259": ["kernel 1"], "1": ["kernel 1"], "GATE_PROJ small": ["kernel 0"], "gate_proj exp2": []}.items():
            with self.subTest(search):
                dom = self.opened(self.layers(), f"#search={search}")
                self.assertEqual(list(self.rows(dom)), found)
                self.assertIn(f"{len(found)} of 2 kernels", dom)
        dom = self.opened(self.feed_forward(), "#search=constant-factors")
        self.assertEqual(list(self.rows(dom)), ["kernel 0"])
        faded = self.opened(self.layers(), "#tab=graph&search=exp2")
        self.assertEqual(re.findall(r'<g class="box kernel faded"[^>]*data-kernel="([^"]*)"', faded), ["kernel 0"])

    def test_the_search_works_from_the_keyboard(self):
        focused, typed, opened, cleared, text, left = self.asked(self.layers(), "", KEYS)
        self.assertEqual(focused, "search")
        self.assertEqual(typed, "#search=gate_proj")
        self.assertEqual(opened, "#search=gate_proj&kernel=kernel+0")
        self.assertEqual((cleared, text, left), ("#kernel=kernel+0", "", ""))

    def test_nothing_is_clipped(self):
        pages = [self.layers(), self.feed_forward()] + ([self.stories()] if STORIES.is_dir() else [])
        for page in pages:
            for width in (800, 1280, 1920):
                with self.subTest(f"{page.stem}, {width} wide"):
                    answer = self.asked(page, "", CLIPPED, f"{width},900")
                    self.assertEqual(answer["width"], width)
                    self.assertEqual(list(answer["found"].values()), [["plan"], ["plan"], ["graph"], ["trace"], ["e-graph"], ["report"]])

    def test_a_kernel_shows_ops_rules_code_and_its_roofline(self):
        page = self.feed_forward()
        dom = self.opened(page, "#tab=plan&kernel=0")
        self.assertIn('data-drawn="plan"', dom)
        self.assertRegex(dom, r'<tr class="row picked" data-kernel="kernel 0"')
        panel = self.panel(dom)
        kind = data_of(page.read_text())["plans"][0]["kinds"][0]
        for name in ["%34 (exp2)", "%45 (add)", "source ops (21)", *kind["rules"], "roofline", "LLVM IR", "assembly"]:
            self.assertIn(name, panel)
        self.assertIn("constant-factors-meet", kind["rules"])
        self.assertIn(kind["text"].strip(), panel)
        self.assertNotIn("%struct", panel)  # low-level code only once it is asked for

    def test_ops_classes_and_rules_lead_to_one_another(self):
        page = self.feed_forward()
        node = self.panel(self.opened(page, "#tab=e-graph&node=34"))
        self.assertIn("%34 (exp2)", node)
        self.assertRegex(node, r'class="chip"[^>]*>kernel 0<')
        self.assertIn("(Exp2 #", node)
        rule = self.panel(self.opened(page, "#tab=trace&rule=constant-factors-meet"))
        self.assertRegex(rule, r'class="chip"[^>]*>kernel 0<')
        self.assertIn("reassociating", rule)

    def test_places_that_are_not_there_say_so(self):
        for place in ("#node=9999", "#tab=none&plan=7&rule=nothing"):
            with self.subTest(place):
                dom = self.opened(self.feed_forward(), place)
                self.assertRegex(self.panel(dom), "there is no|nothing in this compile")

    def test_hostile_names_are_text(self):
        page = self.page("hostile", "-", "--runs", "1", text=HOSTILE_GRAPH)
        self.assertNotIn(HOSTILE, page.read_text())
        for place in ("#kernel=0", "#tab=report&node=0", "#tab=e-graph&node=0"):
            with self.subTest(place):
                dom = self.opened(page, place)
                self.assertNotIn("<img", dom)
                self.assertIn(html.escape(HOSTILE[:12], quote=False), dom)

    @unittest.skipUnless(STORIES.is_dir(), f"SKIPPED: no model in {STORIES}")
    def test_a_model_has_its_layers_once_and_both_plans(self):
        page = self.stories()
        data = data_of(page.read_text())
        self.assertEqual([plan["variant"] for plan in data["plans"]], ["s = 1", "s = 2 … 256"])
        self.assertNotIn("low_level", data["plans"][0]["kinds"][0])
        dom = self.opened(page, "#tab=graph")
        kernels = len(data["plans"][0]["kernels"])
        boxes = len(re.findall(r'<g class="box kernel', dom))
        self.assertLess(boxes, kernels / 2)
        self.assertRegex(html.unescape(dom), r"kernel \d+ ×4 in a loop of 4")
        self.assertIn("edge carried", dom)
        every = self.opened(page, "#tab=graph&trips=all")
        self.assertEqual(len(re.findall(r'<g class="box kernel', every)), kernels)
        # A kernel of the second plan finds its plan by itself.
        name = data["plans"][1]["kernels"][3]["name"]
        panel = self.panel(self.opened(page, f"#tab=trace&kernel={name.split()[1]}"))
        self.assertIn(f"<h2>{data['plans'][1]['kernels'][3]['title']}</h2>", panel)
        self.assertIn(name, panel)
        self.assertIn("alike", panel)
        # A layer is found by its name, and its kernels alone.
        rows = self.rows(self.opened(page, "#search=layers.3"))
        self.assertGreater(len(rows), 4)
        for row in rows.values():
            self.assertRegex(row, r"^\s*layers\.3[.:]")

    def test_where_it_goes_must_be_said(self):
        result = run("view", str(FEED_FORWARD))
        self.assertEqual(result.returncode, 2)
        self.assertIn("--output FILE, or --serve PORT", result.stderr)
        result = run("view", str(FEED_FORWARD), "--backend", "interp", "--output", str(self.folder / "none.html"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("the backend 'cpu'", result.stderr)

    def test_it_is_served_to_this_machine_alone(self):
        server = subprocess.Popen([PROGRAM, "view", str(FEED_FORWARD), "--serve", "0", "--runs", "0", "--no-code", "--cache",
                                   str(self.folder / "cache")], stdout=subprocess.PIPE, text=True)
        try:
            port = int(re.match(r"http://127\.0\.0\.1:(\d+)/ ", server.stdout.readline()).group(1))

            def ask(path, host):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                connection.request("GET", path, headers={"Host": host})
                response = connection.getresponse()
                return response.status, response.read().decode()

            idle = socket.create_connection(("127.0.0.1", port))  # says nothing, and keeps nobody waiting
            status, page = ask("/", f"127.0.0.1:{port}")
            self.assertEqual(status, 200)
            self.assertEqual(data_of(page)["trace"]["events"], [])
            self.assertEqual(ask("/", "evil.example")[0], 403)
            self.assertEqual(ask("/data", f"localhost:{port}")[0], 404)
            idle.close()
            with self.assertRaises(OSError):
                socket.create_connection(("127.0.0.2", port), timeout=5)
        finally:
            server.kill()
            server.wait()
            server.stdout.close()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
