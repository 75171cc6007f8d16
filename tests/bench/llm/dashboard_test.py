"""The LLM suite's page in a browser: plots drawn, nothing fetched, no console error, screenshots kept.

usage: dashboard_test.py [--screenshots DIR]
"""
import argparse
import html
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import synthetic

from apps.bench.llm import dashboard, database

SKIPPED = 77
CHROMIUM = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
            "--disable-extensions", "--disable-background-networking", "--force-color-profile=srgb",
            "--virtual-time-budget=8000", "--enable-logging=stderr", "--v=0"]
IN_SOFTWARE = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]  # the surface needs WebGL; without it: a heat map
NO_WEBGL = ["--disable-gpu", "--disable-3d-apis"]

# What a browser says of how fast a surface is drawn in software is no error of the page.
HINTS = ("GPU stall", "willReadFrequently")
CLICKS = """<script>
for (let k = 0; k < document.querySelectorAll("#controls button").length; ++k) document.querySelectorAll("#controls button")[k].click();
for (let k = 0; k < document.querySelectorAll("#report th").length; ++k) document.querySelectorAll("#report th")[k].click();
for (const box of ["#runs-controls", "#controls"]) {
  for (let k = 0; k < document.querySelector(box + " select").options.length; ++k) {
    const select = document.querySelector(box + " select");
    select.selectedIndex = k;
    select.dispatchEvent(new Event("change"));
  }
}
document.body.dataset.used = "all";
</script></body>"""


def open_page(chromium, page, screenshot, *arguments, fragment=""):
    """Returns the page's elements after its script ran, and what the browser's console said."""
    with tempfile.TemporaryDirectory() as profile:
        result = subprocess.run([chromium, *CHROMIUM, f"--user-data-dir={profile}", f"--screenshot={screenshot}",
                                 "--window-size=1240,3050", *arguments, "--dump-dom", page.as_uri() + fragment],
                                text=True, capture_output=True, timeout=300)
    if result.returncode != 0:
        sys.exit(f"chromium failed: {result.stderr}")
    console = [line for line in result.stderr.splitlines() if "CONSOLE" in line and not any(hint in line for hint in HINTS)]
    return result.stdout, console


def check(dom, console, want):
    assert not console, f"the console says: {console}"
    body = re.search(r"<body[^>]*>", dom).group(0)
    assert "data-error" not in body, body
    drawn = dict(part.split(":") for part in html.unescape(re.search(r'data-drawn="([^"]*)"', body).group(1)).split())
    drawn = {plot: int(count) for plot, count in drawn.items()}
    assert drawn == want, f"drawn {drawn}, not {want}"
    elements = dom[dom.index("<main"):dom.index('id="data"')]
    bars = len(re.findall(r'<g class="point"', elements))
    assert bars == want["comparison"], f"{bars} bars"
    for shape in re.findall(r'<path[^>]* d="([^"]*)"', elements):
        assert "NaN" not in shape, shape


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--screenshots", type=pathlib.Path)
    options = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        print("SKIPPED: no chromium; run tools/install-deps.sh --test")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        shots = options.screenshots or out
        shots.mkdir(parents=True, exist_ok=True)
        connection = database.open_file(out / "bench.db")
        synthetic.fill(connection)
        dashboard.write(connection, out, None, print)
        page = out / "bench.html"
        text = page.read_text()
        assert not re.search(r'<(script|link|img)[^>]*(src|href)="(?!data:)', text), "the page fetches something"
        results = database.results(connection)
        last = results[-1]["run_id"]
        ok = [row for row in results if row["status"] == "ok"]
        plain = [row for row in ok if row["search_budget"] == 0]
        want = {"comparison": sum(row["run_id"] == last for row in plain),
                "runs": sum(row["config"] == "smollm2-135m-bf16" for row in plain), "sweep": 8,
                "report": sum(row["run_id"] == last for row in results)}
        for name, arguments in (("light", IN_SOFTWARE), ("dark", [*NO_WEBGL, "--blink-settings=preferredColorScheme=0"]),
                                ("no-webgl", NO_WEBGL)):
            shot = shots / f"llm-{name}.png"
            dom, console = open_page(chromium, page, shot, *arguments)
            check(dom, console, want)
            assert shot.stat().st_size > 50000, f"{shot} is nearly empty"
        summary = out / "summary.png"
        assert summary.exists() and summary.stat().st_size > 20000, "no summary, or an empty one"
        shutil.copy(summary, shots / "llm-summary.png") if shots != out else None
        # Every button and every choice of the page, one after the other.
        (out / "used.html").write_text(CLICKS.join(text.rsplit("</body>", 1)))
        dom, console = open_page(chromium, out / "used.html", out / "used.png", *NO_WEBGL)
        body = re.search(r"<body[^>]*>", dom).group(0)
        assert not console and "data-error" not in body and 'data-used="all"' in body, (body, console[:3])
        # An early run: no sweep yet.
        data = dashboard.page_data(connection, results[0]["run_id"])
        (out / "first.html").write_text(dashboard.page(data, dashboard.plotly_script()))
        dom, console = open_page(chromium, out / "first.html", out / "first.png", *NO_WEBGL)
        assert not console and "sweep:" not in dom[:dom.index("<main")], console
        # A page whose data is broken says so instead of staying empty.
        (out / "broken.html").write_text(text.replace('"runs":[', '"walks":['))
        dom, console = open_page(chromium, out / "broken.html", out / "broken.png", *NO_WEBGL)
        assert "data-error" in dom and console, "a page that can't be drawn must say so"
    print(f"plots drawn, no console errors; screenshots in {shots}")


if __name__ == "__main__":
    try:
        import plotly  # noqa: F401
    except ImportError:
        print("SKIPPED: no plotly; run tools/install-deps.sh --test")
        sys.exit(SKIPPED)
    main()
