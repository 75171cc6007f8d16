"""Reads a C++ header of this project: its declarations, each with the comment above it.

It knows how the project's headers are written (clang-format, `//` comments, one declaration after the other in
namespaces), not C++. What a reader of an API reference doesn't need is left out: bodies of functions, what is
private, forward declarations, specialisations of std templates.
"""
import dataclasses
import re

TYPE_WORDS = ("class", "struct", "enum", "union")
CONSTRUCTOR_INITIALISERS = re.compile(r"(?<=\))(?:\s*noexcept)?\s*:\s(?!:)")


@dataclasses.dataclass
class Item:
    """A type, or functions that stand together under one comment."""
    names: list
    kind: str  # "class", "struct", "enum", "union", "function", "alias", "value" or "macro"
    comment: list  # its lines, without the slashes
    code: str


@dataclasses.dataclass
class Header:
    path: str
    comment: list
    items: list


def blank_out(code):
    """The code with comments and literals as spaces, so that brackets in them don't count; same length."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'
                         r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.DOTALL)
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), code)


def depth_of(code):
    plain = blank_out(code)
    return sum(plain.count(c) for c in "({[") - sum(plain.count(c) for c in ")}]")


def is_complete(code):
    plain = blank_out(code).rstrip()
    if depth_of(code) != 0:
        return False
    return plain.endswith(";") or (plain.endswith("}") and not starts_type(plain))


def without_template(plain):
    """A declaration without the `template <…>` and `requires` in front of it."""
    plain = plain.lstrip()
    if not plain.startswith("template"):
        return plain
    depth, i = 0, plain.index("<")
    while i < len(plain):
        depth += {"<": 1, ">": -1}.get(plain[i], 0)
        i += 1
        if depth == 0:
            break
    return re.sub(r"^requires\s*(?:\([^)]*\)|[\w:<>, ]+?>)\s+", "", plain[i:].lstrip())


def starts_type(plain):
    words = without_template(plain).split(None, 1)
    return bool(words) and words[0] in TYPE_WORDS


def is_noise(plain):
    text = " ".join(without_template(plain).split())
    forward = re.fullmatch(r"(?:class|struct|union|enum(?: class)?)(?: LUMINAL_API)? [\w:]+(?: : [\w:]+)?;", text)
    return bool(forward) or text.startswith(("using namespace", "static_assert", "extern template", "friend class")) \
        or re.match(r"(?:struct|class) (?:std::|fmt::)", text) is not None


def end_of_braces(plain, i):
    depth = 0
    while True:
        depth += {"{": 1, "}": -1}.get(plain[i], 0)
        i += 1
        if depth == 0:
            return i


def drop_bodies(code):
    """Functions end where their body, or the initialisers of a constructor, would begin."""
    plain, out, i, start, parens = blank_out(code), [], 0, 0, 0
    while i < len(code):
        c = plain[i]
        parens += {"(": 1, ")": -1}.get(c, 0)
        if c == "{" and parens == 0:
            statement = plain[start:i]
            initialisers = CONSTRUCTOR_INITIALISERS.search(statement)
            if starts_type(statement):
                out.append(code[start:i + 1])
                i = start = i + 1
                continue
            end = end_of_braces(plain, i)
            is_value = re.search(r"[=,]\s*$", statement) or ")" not in statement \
                or (initialisers and re.search(r"\w\s*$", statement))
            if is_value:  # of a member, an argument, or what a constructor makes a member of
                i = end
                continue
            out.append(code[start:start + initialisers.start() if initialisers else i].rstrip() + ";")
            i = start = end + 1 if plain[end:end + 1] == ";" else end
            continue
        i += 1
        if parens == 0 and (c in ";}" or re.search(r"\b(?:public|private|protected):$", plain[start:i])):
            out.append(code[start:i])
            start = i
    return "".join([*out, code[start:]])


def drop_private(code):
    """A class without its private and protected parts, and without friends that are classes."""
    kept, hidden, depth = [], False, 0
    for line in code.split("\n"):
        access = re.fullmatch(r"\s*(public|private|protected):", line.split("//")[0].rstrip())
        if access and depth == 1:
            hidden = access.group(1) != "public"
            if not hidden:
                kept.append(line)
            continue
        before = depth
        depth += depth_of(line)
        if hidden and not (before > 0 and depth == 0):
            continue
        if re.match(r"\s*friend (?:class|struct) ", line):
            continue
        kept.append(line)
    text = "\n".join(kept)
    text = re.sub(r"\n(?:\s*\n)+(\s*\};?)$", r"\n\1", text)
    return re.sub(r"\n{3,}", "\n\n", text)


def drop_marks(code):
    """Without what is for compilers and linters; lines that were aligned to it move along."""
    first, *others = code.split("\n")
    bare = first.replace("LUMINAL_API ", "")
    if bare != first and not starts_type(first):
        others = [line.removeprefix(" " * len("LUMINAL_API ")) for line in others]
    return "\n".join([bare, *others]).replace("LUMINAL_API ", "").replace("// NOLINT: ", "// ")


def expand_list(code, list_text):
    """An enum whose members are the rows of a .def file, with the rows' names in place of the #include."""
    rows = re.compile(r'#define (\w+)\([^)]*\) \w+,\n#include "([^"]+)"\n#undef \1')

    def members(match):
        return "\n".join(f"  {name}," for name in re.findall(rf"^{match.group(1)}\((\w+)", list_text(match.group(2)), re.M))

    return rows.sub(members, code)


def tidy(code, list_text):
    code = expand_list(drop_marks(code), list_text)
    if starts_type(blank_out(code)):
        code = drop_private(code)
    code = drop_bodies(code)
    return "\n".join(line.rstrip() for line in code.strip("\n").split("\n"))


def name_and_kind(code):
    plain = " ".join(without_template(blank_out(code)).replace("LUMINAL_API ", "").split())
    match = re.match(r"(class|struct|union|enum)(?: class| struct)? ([\w:]+)", plain)
    if match:
        return match.group(2), match.group(1)
    match = re.match(r"using (\w+) =", plain)
    if match:
        return match.group(1), "alias"
    match = re.match(r"[A-Z][A-Z0-9_]+\(([^)]+)\)", plain)  # a macro that declares what it names
    if match:
        return match.group(1).strip(), "function"
    match = re.search(r"(operator\s*(?:\(\)|\[\]|[^\s\w(]+|[\w: ]+?)|~?[\w:]+)\s*\(", plain)
    equals = re.search(r"(?<![<>=!])=(?!=)", plain)
    if match and (equals is None or match.start() < equals.start()):
        return match.group(1), "function"
    match = re.search(r"(\w+)(?:\[[^\]]*\])?\s*(?:=|\{|;)", plain)
    return (match.group(1) if match else plain), "value"


class Reader:
    def __init__(self, path, text, list_text):
        self.list_text = list_text
        self.lines = text.splitlines()
        self.at = 0
        self.header = Header(path, self.take_comment(), [])
        self.comment = []
        self.group = None  # where a declaration without a blank line before it belongs

    def take_comment(self):
        taken = []
        while self.at < len(self.lines) and self.lines[self.at].lstrip().startswith("//"):
            taken.append(re.sub(r"^\s*// ?", "", self.lines[self.at]))
            self.at += 1
        return taken

    def read(self):
        while self.at < len(self.lines):
            line = self.lines[self.at].strip()
            if not line:
                self.comment, self.group = [], None
                self.at += 1
            elif line.startswith("//"):
                self.comment, self.group = self.take_comment(), None
                if re.match(r"[-=]{3}", self.comment[0]):
                    self.comment = []
            elif line.startswith("#"):
                self.take_directive()
            elif re.match(r"namespace [\w:]* ?\{", line) or line.startswith("namespace {") or line.startswith("}"):
                self.comment, self.group = [], None
                self.at += 1
            else:
                self.take_declaration()
        return self.header

    def take_directive(self):
        taken = []
        while True:
            line = self.lines[self.at]
            taken.append(line)
            self.at += 1
            if not line.rstrip().endswith("\\") or self.at == len(self.lines):
                break
        match = re.match(r"#define (\w+)", taken[0])
        if match and self.comment:
            lines = [re.sub(r"\s*\\$", " \\\\", line).replace("LUMINAL_API ", "") for line in taken]
            code = "\n".join(lines)
            self.header.items.append(Item([match.group(1)], "macro", self.comment, code))
        self.comment, self.group = [], None

    def take_declaration(self):
        first = self.at
        while True:
            self.at += 1
            code = "\n".join(self.lines[first:self.at])
            if is_complete(code):
                break
            if self.at == len(self.lines):
                raise ValueError(f"{self.header.path}:{first + 1}: this declaration doesn't end")
        if is_noise(blank_out(code)):
            self.comment = []
            return
        name, kind = name_and_kind(code)
        code = tidy(code, self.list_text)
        is_type = kind in TYPE_WORDS
        if self.group is not None and not is_type:
            self.group.code += "\n" + code
            if name not in self.group.names:
                self.group.names.append(name)
            return
        item = Item([name], kind, self.comment, code)
        self.header.items.append(item)
        self.comment = []
        self.group = None if is_type else item


def read_header(path, text, list_text):
    """`path` is what messages and the reference call it; `list_text(path)` reads a .def file that it includes."""
    return Reader(path, text, list_text).read()
