"""bench.html: all runs of a database as one offline page; and summary.png, a screenshot of its top."""
import html
import json
import pathlib
import shutil
import subprocess
import tempfile

from . import database
from .paths import PATHS

TEMPLATE = pathlib.Path(__file__).with_name("dashboard.html")
NEEDED = ("run_id path model model_key config device dtype prompt_tokens iters decode_tokens max_cache_len search_budget "
          "status ttft_ms ttft_ms_mean tpot_ms throughput_tps compile_ms ttft_samples tpot_samples memory_before_mb memory_after_mb "
          "peak_rss_mb others_cpu note error").split()
CHROMIUM = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
            "--disable-background-networking", "--force-color-profile=srgb", "--virtual-time-budget=5000")
CARD_COLUMNS, CARD_HEIGHT, HEAD_HEIGHT = 3, 330, 420  # of the picture; approximate sizes on the page


class DashboardError(Exception):
    """The page can't be made; the message says why."""


def plotly_script():
    try:
        from plotly import offline
    except ImportError as error:
        raise DashboardError(f"{error}: the page is drawn with plotly; tools/install-deps.sh --test installs it, then --render-only "
                             "makes the page of what was measured") from error
    return offline.get_plotlyjs()


def spread(samples):
    """The 10th, 50th and 90th percentiles, all that the page needs."""
    ordered = sorted(samples)
    return [round(ordered[round(share * (len(ordered) - 1))], 4) for share in (0.1, 0.5, 0.9)] if ordered else []


def page_data(connection, run):
    runs = database.runs(connection)
    if not runs:
        raise DashboardError("the database has no runs yet")
    if run is not None and run not in [entry["run_id"] for entry in runs]:
        raise DashboardError(f"there is no run {run}; the last are "
                             + ", ".join(str(entry["run_id"]) for entry in runs[-5:]))
    results = []
    for row in database.results(connection):
        kept = {key: row[key] for key in NEEDED}
        kept["ttft_samples"], kept["tpot_samples"] = spread(row["ttft_samples"]), spread(row["tpot_samples"])
        results.append(kept)
    return {"runs": runs, "results": results, "chosen": run or runs[-1]["run_id"],
            "paths": [{"name": path.name, "title": path.title} for path in PATHS]}


def page(data, script):
    facts = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("</", "<\\/")
    parts = {"@PLOTLY@": script, "@DATA@": facts, "@TITLE@": html.escape("Luminal: language models")}
    text = TEMPLATE.read_text()
    for mark in ("@TITLE@", "@DATA@", "@PLOTLY@"):  # the largest last, so that it isn't searched for the others
        before, after = text.split(mark, 1)
        text = before + parts[mark] + after
    return text


def picture(page_file, file, data):
    """Writes a picture of the chosen run's comparison; False if there is no browser to render it."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        return False
    configs = {row["config"] for row in data["results"] if row["run_id"] == data["chosen"] and row["status"] == "ok"}
    height = HEAD_HEIGHT + CARD_HEIGHT * max(1, -(-len(configs) // CARD_COLUMNS))
    with tempfile.TemporaryDirectory() as profile:
        try:
            result = subprocess.run([chromium, *CHROMIUM, f"--user-data-dir={profile}", f"--window-size=1240,{height}",
                                     f"--screenshot={file}", page_file.as_uri() + "#summary"], capture_output=True,
                                    timeout=180)
        except subprocess.TimeoutExpired:
            return False
    return result.returncode == 0 and file.exists()


def write(connection, out, run, say):
    data = page_data(connection, run)
    script = plotly_script()
    out.mkdir(parents=True, exist_ok=True)
    page_file, summary = (out / "bench.html").resolve(), (out / "summary.png").resolve()
    page_file.write_text(page(data, script))
    say(f"wrote {page_file}")
    if picture(page_file, summary, data):
        say(f"wrote {summary}")
    else:
        say("no summary.png: it is drawn by chromium, which isn't there or didn't answer; bench.html is whole")
