"""The API reference: a page per module, made of its public headers by cpp_header."""
import re

from cpp_header import read_header
from markdown_text import block, code_span, escaped
from project import ROOT, public_headers

TITLES = {
    "base": "Errors and ids", "shape": "Dtypes and dims", "egraph": "E-graph engine", "graph": "Graphs and tensors",
    "composite": "Operations", "driver": "Compile and run", "nn": "Layers", "text": "Text and tokens",
    "io": "Files of models", "llm": "Language models",
}


def pages_of_headers():
    """Headers by page: a page per module; the many operations have one of their own."""
    pages = {}
    for module, headers in public_headers().items():
        for header in headers:
            page = "composite" if "/composite/" in header else module
            pages.setdefault(page, []).append(header)
    return pages


def anchor_of_header(path):
    return re.sub(r"\W+", "-", path.removeprefix("luminal/").removesuffix(".h"))


def paragraphs(comment):
    """The lines of a comment as Markdown: empty lines part paragraphs, indented ones are items of a list or code."""
    out, kind = [], None
    for line in comment:
        item = re.match(r"\s{2,}(\d+\.|-) (.*)", line)
        if not line.strip():
            kind = None
        elif item:
            out.append(f"{item.group(1)} {escaped(item.group(2))}")
            kind = "item"
        elif line.startswith("  ") and kind != "item":
            out = [*out[:-1], f"{out[-1]}\n    {line}"] if kind == "code" else [*out, f"    {line}"]
            kind = "code"
        elif line.startswith("  ") or kind == "prose":
            out[-1] += " " + escaped(line.strip())
        else:
            out.append(escaped(line))
            kind = "prose"
    return out


class Reference:
    def __init__(self):
        list_text = lambda path: (ROOT / path).read_text()  # noqa: E731
        self.pages = {page: [read_header(path, (ROOT / path).read_text(), list_text) for path in paths]
                      for page, paths in pages_of_headers().items()}
        self.anchors = {}  # of an item, by (header, number)
        self.types = {}    # where a type is described, by its name; none where two have the name
        for page, headers in self.pages.items():
            taken = set()
            for header in headers:
                for number, item in enumerate(header.items):
                    anchor = re.sub(r"\W+", "-", item.names[0]).strip("-") or "operator"
                    if anchor in taken:
                        anchor = f"{anchor_of_header(header.path)}-{anchor}-{number}"
                    taken.add(anchor)
                    self.anchors[header.path, number] = anchor
                    if item.kind in ("class", "struct", "enum", "union", "alias"):
                        name = item.names[0]
                        self.types[name] = None if name in self.types else (page, anchor)

    def page_of(self, path):
        """Page and anchor of a header, or None where it isn't public."""
        for page, headers in self.pages.items():
            if any(header.path == path for header in headers):
                return f"api/{page}.md", anchor_of_header(path)
        return None

    def linked(self, text, page, own):
        """Names of types lead to where they are described."""
        def link(match):
            place = self.types.get(match.group(0))
            if place is None or match.group(0) == own:
                return match.group(0)
            target = f"#{place[1]}" if place[0] == page else f"{place[0]}.md#{place[1]}"
            return f"[{match.group(0)}]({target})"

        parts = re.split(r"(`[^`]*`)", text)
        return "".join(part if i % 2 else re.sub(r"\b[A-Z]\w*[a-z]\w*\b", link, part) for i, part in enumerate(parts))

    def item_markdown(self, page, header, number):
        item = header.items[number]
        shown = ", ".join(code_span(name) for name in item.names[:4]) + (" …" if len(item.names) > 4 else "")
        out = [f"### {shown} {{ #{self.anchors[header.path, number]} }}\n"]
        own = item.names[0]
        out += [self.linked(text, page, own) if not text.startswith("    ") else text
                for text in paragraphs(item.comment)]
        return "\n\n".join(out) + "\n\n" + block("cpp", item.code)

    def page_markdown(self, page):
        out = [f"# {TITLES.get(page, page)}\n"]
        for header in self.pages[page]:
            out.append(f"## {header.path.removeprefix('luminal/')} {{ #{anchor_of_header(header.path)} }}\n")
            out.append("\n\n".join(self.linked(text, page, "") for text in paragraphs(header.comment)) + "\n")
            out.append(block("cpp", f'#include "{header.path}"'))
            out += [self.item_markdown(page, header, number) for number in range(len(header.items))]
        return "\n".join(out)

    def index_markdown(self):
        out = ["# API reference\n",
               "Made of the installed headers: every declaration with the comment above it, without what is private and "
               "without bodies of functions. A program includes `luminal/luminal.h`, which has all of it but the e-graph "
               "engine. [Stability](../stability.md) says what may change.\n"]
        for page, headers in self.pages.items():
            out.append(f"## [{TITLES.get(page, page)}]({page}.md)\n")
            for header in headers:
                summary = escaped(" ".join(header.comment).split(". ")[0].strip(" ."))
                out.append(f"- [`{header.path}`]({page}.md#{anchor_of_header(header.path)}): {summary}")
            out.append("")
        return "\n".join(out)

    def markdown_files(self):
        files = {f"api/{page}.md": self.page_markdown(page) for page in self.pages}
        files["api/index.md"] = self.index_markdown()
        return files
