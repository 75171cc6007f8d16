"""Pages that are tables of what the sources and the program say: primitives, dtypes, rules, commands, claims, examples."""
import re

from markdown_text import block, code_span, escaped, table
from project import ROOT, examples, output_of


def def_rows(text, macro):
    """Rows of a .def file: (section's comment, arguments, comment). A comment may go on in the next lines; an empty line
    ends a section."""
    rows, section, in_section = [], [], False
    for line in text.splitlines():
        row = re.match(rf"{macro}\((.*?)\)(?:\s*//\s*(.*))?$", line)
        comment = re.match(r"\s*//\s?(.*)", line)
        if row:
            arguments = [argument.strip().strip('"') for argument in row.group(1).split(",")]
            rows.append([" ".join(section).strip(), arguments, row.group(2) or ""])
            in_section = False
        elif comment and line[:1] == " " and rows:
            rows[-1][2] += " " + comment.group(1).strip()
        elif comment:
            section = [*section, comment.group(1)] if in_section else [comment.group(1)]
            in_section = True
        else:
            section, in_section = [], False
    return rows


def primitives():
    text = (ROOT / "luminal/graph/ops.def").read_text()
    head, _, rest = text.partition("\n\n")
    rules = head.partition("// Rules for all rows. ")[2]
    out = ["# Primitives\n",
           "What every graph is made of, from `luminal/graph/ops.def`. [Operations](../api/composite.md) such as softmax are "
           "functions in these; [ops and dtypes](../ops.md) says what is tested of them.\n",
           escaped(re.sub(r"\n// ?", " ", rules)) + "\n"]
    sections = {}
    for section, arguments, comment in def_rows(rest, "OP"):
        sections.setdefault(section or arguments[3], []).append((arguments, comment))
    for section, rows in sections.items():
        title, _, more = section.partition(".")
        out.append(f"## {escaped(title.split(':')[0].split(',')[0])}\n")
        more = section if more.strip() or "," in title else ""
        if more:
            out.append(escaped(more) + "\n")
        out.append(table(["op", "in text", "operands", "of dtypes", "meaning"], [
            [code_span(name), code_span(shown), "any" if arity == "-1" else arity,
             "" if dtypes == "None" else dtypes.lower(), escaped(comment)]
            for (name, shown, arity, _, dtypes, *_), comment in rows]))
    return "\n".join(out)


def dtypes():
    rows = def_rows((ROOT / "luminal/shape/dtypes.def").read_text(), "DTYPE")
    return "\n".join([
        "# Dtypes\n",
        "The element types, from `luminal/shape/dtypes.def`. [Numerics](../numerics.md#dtypes) says how ops promote them.\n",
        table(["dtype", "in C++", "bits", "kind", "exponent bits", "one element in memory", ""],
              [[code_span(shown), code_span(f"DType::{name}"), bits, kind, exponent if kind == "Float" else "",
                code_span(storage), escaped(comment)]
               for _, (name, shown, bits, kind, exponent, storage), comment in rows])])


def forms(text):
    """The top-level s-expressions of a text, comments left out."""
    text = re.sub(r";[^\n]*", "", text)
    depth = start = 0
    for i, c in enumerate(text):
        if c == "(":
            start = i if depth == 0 else start
            depth += 1
        elif c == ")":
            depth -= 1
            if depth == 0:
                yield text[start:i + 1]


def expanded(text, root=ROOT):
    """An .egg file's text with its `;@each` blocks repeated, as luminal/rules/expand_rules.cmake does it."""
    ops = [arguments for _, arguments, _ in def_rows((root / "luminal/graph/ops.def").read_text(), "OP")]

    def repeated(match):
        classes, template = match.group(1).split(), match.group(2)
        return "".join(template.replace("@Op", name).replace("@text", shown).replace("@name", shown.replace("_", "-"))
                       for name, shown, _, op_class, *_ in ops if op_class in classes)

    return re.sub(r"^;@each (.*)\n([^;]*);@end\n", repeated, text, flags=re.M)


def rules_of_file(path):
    """(name, group, class, text) of every rule of an .egg file."""
    for form in forms(expanded(path.read_text())):
        name, ruleset = re.search(r':name "([^"]+)"', form), re.search(r":ruleset ([\w.-]+)", form)
        if name and ruleset:
            group, _, numeric_class = ruleset.group(1).partition(".")
            bare = re.sub(r'\s*:(?:name "[^"]+"|ruleset [\w.-]+)', "", form)
            yield name.group(1), group, numeric_class, " ".join(bare.split()).replace(" )", ")")


def rule_files():
    listed = re.search(r"set\(rule_files ([^)]*)\)", (ROOT / "luminal/rules/CMakeLists.txt").read_text())
    return [ROOT / "luminal/rules" / name for name in listed.group(1).split()]


def rules():
    out = ["# Rules there are\n",
           "Every rule that is built in, from `luminal/rules/*.egg`; `luminal rules list` prints the same names. "
           "[Rules](../rules.md) says what classes promise and groups are for, [how to add one](../how-to/rule.md) the rest.\n"]
    for path in rule_files():
        rows = list(rules_of_file(path))
        if not rows:
            continue
        out.append(f"## {path.name}\n")
        out.append(table(["rule", "group", "class", "what it says"],
                         [[code_span(name), group, numeric_class or "always", code_span(text)]
                          for name, group, numeric_class, text in rows]))
    return "\n".join(out)


def subcommands(help_text):
    found = re.search(r"^Commands:\n((?:[ \t]+.*\n?)*)", help_text, re.M)
    return re.findall(r"^  (\S+)", found.group(1), re.M) if found else []


def commands(program):
    out = ["# Commands\n",
           "What `luminal --help` and the help of every command say, in the version that this page was made with: "
           + code_span(output_of(program, "--version")) + ".\n"]

    def add(names):
        text = output_of(program, *names, "--help-all")
        out.append("#" * (1 + max(1, len(names))) + " " + code_span(" ".join(["luminal", *names])) + "\n")
        out.append(block("text", text.strip("\n")))
        for name in subcommands(text):
            add([*names, name])

    add([])
    return "\n".join(out)


def claims():
    out = ["# Claims\n",
           "What the project says of itself, each with the target it is held to. `tools/claims NAME` measures one, or a "
           "whole group; CI measures those that are quick, whatever else the machine does.\n"]
    rows = []
    group = ""

    def flush():
        if rows:
            out.append(f"## {group}\n")
            out.append(table(["claim", "target", "minutes", "in CI"], rows))
            rows.clear()

    for line in output_of(ROOT / "tools/claims", "list").splitlines():
        claim = re.fullmatch(r"  (\S+): (.*) \(([\d.]+) min(, quick)?\)", line)
        if claim:
            name, target, minutes, quick = claim.groups()
            rows.append([code_span(name), escaped(target), minutes, "yes" if quick else ""])
        else:
            flush()
            group = line.strip()
    flush()
    return "\n".join(out)


def example_pages():
    out = ["# Examples\n", "Programs of at most 60 lines, in `examples/`. Each is a test: what it prints is compared.\n"]
    for path in examples():
        text = path.read_text()
        summary = re.match(r"(?://[^\n]*\n)+", text)
        title = path.stem[3:].replace("_", " ").capitalize()
        out.append(f"## {title} {{ #{path.stem} }}\n")
        if summary:
            out.append(escaped(re.sub(r"^// ?", "", summary.group(0), flags=re.M).replace("\n", " ").strip()) + "\n")
        out.append(f"`examples/{path.name}`\n")
        out.append(block("cpp", text[summary.end():] if summary else text))
        printed = path.with_suffix(".out")
        if printed.is_file() and printed.read_text().strip():
            out.append("prints\n")
            out.append(block("text", printed.read_text()))
    return "\n".join(out)


def markdown_files(program):
    return {
        "examples.md": example_pages(),
        "tables/primitives.md": primitives(),
        "tables/dtypes.md": dtypes(),
        "tables/rules.md": rules(),
        "tables/commands.md": commands(program),
        "tables/claims.md": claims(),
    }
