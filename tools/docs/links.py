"""Links of the documents as they stand in the repository, made to lead somewhere in the site.

Documents link to sources, examples and the files of the root, as readers of the repository want it. In the site
those are pages of their own, or nothing: then the name of the file is left.
"""
import posixpath
import re

from markdown_text import code_span
from project import ROOT

ROOT_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md",
              "SECURITY.md": "security.md"}
# Sources and folders that a generated page shows.
SHOWN_BY = {"luminal/graph/ops.def": "tables/primitives.md", "luminal/shape/dtypes.def": "tables/dtypes.md",
            "luminal/rules": "tables/rules.md", "luminal/graph/composite": "api/composite.md", "luminal": "api/index.md",
            "apps/cli": "tables/commands.md", "tools/claims": "tables/claims.md", "examples": "examples.md"}
CODE = re.compile(r"(^(?:```|~~~).*?^(?:```|~~~)[ \t]*$|``.*?``|`[^`\n]*`)", re.DOTALL | re.M)
LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def page_of(path, reference):
    """The page, with its anchor, of a file of the repository; None where it has none."""
    if path in ROOT_PAGES:
        return ROOT_PAGES[path], ""
    if path in SHOWN_BY:
        return SHOWN_BY[path], ""
    if path.startswith("docs/"):
        return path.removeprefix("docs/"), ""
    if re.fullmatch(r"examples/\d\d_\w+\.cpp", path):
        return "examples.md", "#" + posixpath.basename(path).removesuffix(".cpp")
    place = reference.page_of(path)
    return (place[0], "#" + place[1]) if place else None


def mended(markdown, path, page, reference):
    """The text of the repository's file `path`, which is the site's `page`, with links of the site."""
    def link(match):
        text, target, anchor = match.group(1), match.group(2), match.group(3) or ""
        if "://" in target or target.startswith("mailto:"):
            return match.group(0)
        file = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        place = page_of(file, reference)
        if place is None:
            return text if not (ROOT / file).exists() or file in text else f"{text} ({code_span(file)})"
        relative = posixpath.relpath(place[0], posixpath.dirname(page) or ".")
        return f"[{text}]({relative}{anchor or place[1]})"

    # Links whose text is code are links all the same: only what is code as a whole is left alone.
    parts = re.split(r"(\[`[^`]*`\]\([^)]*\))", markdown)
    out = []
    for i, part in enumerate(parts):
        if i % 2:
            out.append(LINK.sub(link, part))
        else:
            out += [piece if j % 2 else LINK.sub(link, piece) for j, piece in enumerate(CODE.split(part))]
    return "".join(out)
