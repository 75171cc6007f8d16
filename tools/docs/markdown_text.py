"""Text of sources as Markdown: nothing in it is taken for a mark."""
import html
import re


def escaped(text):
    """Prose of a comment: what stands between backquotes stays code, everything else is itself."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if i % 2 else re.sub(r"([\\*_\[\]#])", r"\\\1", html.escape(part, quote=False))
                   for i, part in enumerate(parts))


def code_span(text):
    """Code inside of a line."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text.strip()}{fence}"


def block(language, text):
    """A code block that holds any text: its fence is longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def table(titles, rows):
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"
