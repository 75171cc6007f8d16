"""The shell commands that a page in Markdown shows: in blocks of code, and within sentences.

A block without a language, or marked sh, bash or console, shows commands. If a line of it begins with `$ `, such lines are
the commands and the others are what they print; otherwise every line is a command. A block that only shows output or a
file is marked with another language: text, json, dockerfile and so on. Of a dockerfile, RUN and CMD are commands. Of a
block that is indented by four columns, only lines with `$ ` are commands.
"""
import dataclasses
import json
import re
import shlex

SHELL = ("", "sh", "bash", "console")
PROGRAMS = r"(?:luminal|cmake|ctest|ninja|\.venv/bin/python|(?:tools|apps|tests)/[\w./-]+)"


@dataclasses.dataclass(frozen=True)
class Shown:
    place: str  # page:line
    text: str   # one command, as written

    def words(self):
        return shlex.split(self.text, comments=True)


def blocks_of(text):
    """(language, number of the first line, lines) of each fenced block; the language is None for what is between them."""
    language, first, lines = None, 1, []
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"\s*```(\w*)", line)
        if fence:
            yield language, first, lines
            language, first, lines = (fence.group(1) if language is None else None), number + 1, []
        else:
            lines.append(line)
    yield language, first, lines


def joined(first, lines):
    """(number, line), where a line that ends in a backslash goes on in the next one."""
    start, text = first, ""
    for number, line in enumerate(lines, first):
        if not text:
            start = number
        text += line.strip()
        if text.endswith("\\"):
            text = text[:-1]
        else:
            yield start, text
            text = ""


def prompted(first, lines):
    return [(number, line[2:]) for number, line in joined(first, lines) if line.startswith("$ ")]


def docker_commands(first, lines):
    for number, line in joined(first, lines):
        word, _, rest = line.partition(" ")
        if word == "RUN":
            yield number, rest
        elif word == "CMD":
            yield number, shlex.join(json.loads(rest))


def block_commands(language, first, lines):
    if language is None:
        return prompted(first, [line if line.startswith("    ") else "" for line in lines])
    if language == "dockerfile":
        return docker_commands(first, lines)
    if language not in SHELL:
        return []
    return prompted(first, lines) or [(number, line) for number, line in joined(first, lines) if line and line[0] != "#"]


def in_blocks(page, text):
    return [Shown(f"{page}:{number}", line) for block in blocks_of(text) for number, line in block_commands(*block)]


def in_sentences(page, text):
    """What is between backquotes in prose and begins with a program."""
    found = []
    for language, first, lines in blocks_of(text):
        prose = "\n".join(lines) if language is None else ""
        for span in re.finditer(rf"`({PROGRAMS}\s[^`]+)`", prose):
            number = first + prose.count("\n", 0, span.start())
            found.append(Shown(f"{page}:{number}", " ".join(span.group(1).replace("\\|", "|").split())))
    return found
