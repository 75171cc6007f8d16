"""The report page in a browser: plots are drawn, the console has no error, a screenshot is kept.

usage: page_test.py LUMINAL [--screenshots DIR]
"""
import argparse
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
CASES = {"micro": "exp2,add,mod,gather,cast,sum,max", "patterns": "softmax,rms_norm,matmul,attention"}
CHROMIUM = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            "--no-first-run", "--disable-extensions", "--disable-background-networking", "--force-color-profile=srgb",
            "--virtual-time-budget=3000", "--enable-logging=stderr", "--v=0"]


def bench(luminal, *arguments, codes=(0,)):
    result = subprocess.run([luminal, "bench", *map(str, arguments)], text=True, capture_output=True)
    if result.returncode not in codes:
        sys.exit(f"luminal bench {arguments}: exit code {result.returncode}\n{result.stdout}{result.stderr}")


def run_suite(luminal, out, level):
    bench(luminal, level, "--filter", CASES[level], "--sizes", "tiny,l1,l2", "--dtype", "f32,bf16,i8", "--threads", "1",
          "--min-time", "0.001", "--out", out)


def run_compare(luminal, out):
    baseline = out / "baseline"
    bench(luminal, "micro", "--filter", "exp2/l1/f32,sum/l1/bf16", "--threads", "1", "--baseline", baseline)
    bench(luminal, "micro", "--compare", baseline, "--rounds", "10", "--out", out, codes=(0, 1))


def open_page(chromium, page, screenshot, *arguments):
    """Returns the page's elements after its script ran, and what the browser's console said."""
    with tempfile.TemporaryDirectory() as profile:
        result = subprocess.run([chromium, *CHROMIUM, f"--user-data-dir={profile}", f"--screenshot={screenshot}",
                                 "--window-size=1240,2700", *arguments, "--dump-dom", page.as_uri()],
                                text=True, capture_output=True, timeout=120)
    if result.returncode != 0:
        sys.exit(f"chromium failed: {result.stderr}")
    console = [line for line in result.stderr.splitlines() if "CONSOLE" in line]
    return result.stdout, console


def check(dom, console, want):
    assert not console, f"the console says: {console}"
    body = re.search(r"<body[^>]*>", dom).group(0)
    assert "data-error" not in body, body
    drawn = dict(part.split(":") for part in html.unescape(re.search(r'data-drawn="([^"]*)"', body).group(1)).split())
    for plot, points in want.items():
        if points is None:
            assert plot not in drawn, f"{plot} is drawn of nothing"
            continue
        assert int(drawn[plot]) == points, f"{plot}: {drawn[plot]} points, not {points}"
        svg = re.search(rf'<svg[^>]*id="{plot}".*?</svg>', dom, re.DOTALL).group(0)
        marks = len(re.findall(r'class="mark"', svg))
        assert marks >= points, f"{plot} has {marks} marks"
        assert "NaN" not in re.sub(r"<title>.*?</title>", "", svg, flags=re.DOTALL), f"{plot}: NaN in its shapes"


def points_of(report, n_runs=1):
    """How many points each plot must have, as the page starts: bars and trend of the first dtype."""
    first = report["cases"][0]["dtype"]
    of_dtype = [c for c in report["cases"] if c["dtype"] == first]
    return {"roofline": sum(c["flops"] > 0 for c in report["cases"]), "bars": len(of_dtype),
            "trend": len({c["op"] for c in of_dtype}) * n_runs}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("luminal")
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
        read = lambda name: json.loads((out / name).read_text())
        # One suite alone, as its command leaves it.
        run_suite(options.luminal, out, "patterns")
        dom, console = open_page(chromium, out / "bench.html", shots / "report-patterns.png")
        check(dom, console, {**points_of(read("pattern_report.json")), "trend": None})
        # Both, with a second run for a trend, and a comparison.
        run_suite(options.luminal, out, "micro")
        run_suite(options.luminal, out, "micro")
        run_compare(options.luminal, out)
        want = {**points_of(read("bench_report.json"), n_runs=2), "comparison": 2}
        for scheme, arguments in (("light", []), ("dark", ["--blink-settings=preferredColorScheme=0"])):
            shot = shots / f"report-{scheme}.png"
            dom, console = open_page(chromium, out / "bench.html", shot, *arguments)
            check(dom, console, want)
            assert shot.stat().st_size > 20000, f"{shot} is nearly empty"
        # A page whose data is broken says so instead of staying empty.
        page = (out / "bench.html").read_text().replace('"peaks"', '"valleys"')
        (out / "broken.html").write_text(page)
        dom, console = open_page(chromium, out / "broken.html", out / "broken.png")
        assert "data-error" in dom and console, "a page that can't be drawn must say so"
    print(f"plots drawn, no console errors; screenshots in {shots}")


if __name__ == "__main__":
    main()
