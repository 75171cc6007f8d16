"""A run as one SVG: bars of tokens per second, drawn without a library and legible without colours."""
import html

from . import database
from .paths import PATHS

WIDTH, LABEL, VALUE = 760, 270, 60  # widths of the picture, of the names at the left, of the figures at the right
HEAD, TITLE, ROW, GAP, FOOT = 34, 30, 22, 14, 30
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .head { font-size: 15px; font-weight: 600 }
  .title { font-weight: 600 }
  .foot, .unit { fill: #59636e; font-size: 12px }
  .ours { fill: #0969da } .other { fill: #afb8c1 }
  .name-ours { font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .foot, .unit { fill: #9198a1 } .ours { fill: #4493f8 } .other { fill: #656c76 }
  }"""


class PictureError(Exception):
    """The picture can't be drawn; the message says why."""


def measured(connection, run_id):
    """The run, and per configuration a list of (path, tokens per second), the fastest first."""
    run = next((run for run in database.runs(connection) if run["run_id"] == run_id), None)
    if run is None:
        raise PictureError(f"there is no run {run_id}")
    by_config = {}
    for row in database.results(connection):
        # Results of a longer search aren't what users get by default.
        if row["run_id"] == run_id and row["status"] == "ok" and row["tpot_ms"] and not row["search_budget"]:
            by_config.setdefault((row["model"], row["dtype"], row["prompt_tokens"]), []).append(
                (row["path"], 1000 / row["tpot_ms"]))
    if not by_config:
        raise PictureError(f"run {run_id} has no result that could be drawn")
    for speeds in by_config.values():
        speeds.sort(key=lambda entry: -entry[1])
    return run, by_config


def text(x, y, what, kind="", anchor="start"):
    return f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{html.escape(what)}</text>'


def drawn(run, by_config):
    titles = {path.name: path.title for path in PATHS}
    parts, y = [text(0, 18, "Tokens per second, one sequence: longer is faster", "head")], HEAD
    for (model, dtype, prompt), speeds in by_config.items():
        parts.append(text(0, y + 18, f"{model}, {dtype}", "title"))
        parts.append(text(WIDTH, y + 18, f"after a prompt of {prompt} tokens", "unit", "end"))
        y += TITLE
        most = speeds[0][1]
        for path, speed in speeds:
            ours = path.startswith("luminal")
            length = max(1, (WIDTH - LABEL - VALUE) * speed / most)
            parts.append(text(LABEL - 10, y + 15, titles.get(path, path), "name-ours" if ours else "", "end"))
            parts.append(f'<rect x="{LABEL}" y="{y + 3}" width="{length:.1f}" height="{ROW - 6}" rx="2" '
                         f'class="{"ours" if ours else "other"}"/>')
            parts.append(text(LABEL + length + 8, y + 15, f"{speed:.0f}" if speed >= 10 else f"{speed:.1f}"))
            y += ROW
        y += GAP
    machine = f"{run['device_name']}, {run['isa'].split(' ')[0]}, {run['threads']} threads; {run['timestamp'][:10]}"
    parts.append(text(0, y + 14, machine, "foot"))
    height = y + FOOT
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            f'role="img" aria-label="Tokens per second of luminal and others">\n<style>{STYLE}\n</style>\n{body}\n</svg>\n')


def write(connection, file, run_id, say):
    run, by_config = measured(connection, run_id or max(run["run_id"] for run in database.runs(connection)))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(drawn(run, by_config))
    say(f"wrote {file}")
