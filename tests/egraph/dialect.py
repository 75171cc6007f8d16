"""Writes a program in the dialect of the engine at hand.

Our programs use what the language has; an egglog wheel may know less of it. `write` gives a program's
commands as texts that the wheel takes: 13.1.0 has no `:name` on rewrites, and no wheel so far has
`:naive`. `naive` goes the other way: every rule with `:naive`, for our engine, to compare both ways of
evaluation.
"""

import re

FIRST_WITH_REWRITE_NAMES = (13, 2)
NOT_IN_ANY_WHEEL = (":naive",)
WORD = re.compile(r"""\s+|;[^\n]*|(?P<word>"(?:[^"\\]|\\.)*"|[()]|[^\s()";]+)""", re.DOTALL)


def words(text):
    """Words and where they start and end; comments and spaces are left out."""
    position = 0
    while position < len(text):
        match = WORD.match(text, position)
        if match is None:
            raise ValueError(f"a string without an end at {text[position:position + 40]!r}")
        position = match.end()
        if match["word"] is not None:
            yield match["word"], match.start(), position


def commands(text):
    """The top-level commands as texts, as they are written."""
    depth, start = 0, 0
    for word, begin, end in words(text):
        if depth == 0:
            start = begin
        depth += (word == "(") - (word == ")")
        if depth == 0:
            yield text[start:end]
    if depth != 0:
        raise ValueError("a parenthesis is not closed")


def read(text):
    """One command as nested lists of words."""
    stack = [[]]
    for word, _, _ in words(text):
        if word == "(":
            stack.append([])
        elif word == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(word)
    return stack[0][0]


def show(node):
    return node if isinstance(node, str) else "(" + " ".join(map(show, node)) + ")"


def version_of(text):
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])


def without_option(node, option, values):
    """A command without an option and the values that follow it."""
    if option not in node:
        return node
    place = node.index(option)
    return node[:place] + node[place + 1 + values:]


def write(text, version):
    """The program's commands for egglog's wheel of this version, as texts."""
    for command in commands(text):
        for option in NOT_IN_ANY_WHEEL:
            if option in command and option in [word for word, _, _ in words(command)]:
                raise ValueError(f"no wheel has {option}")
        if ":name" in command and version_of(version) < FIRST_WITH_REWRITE_NAMES:
            node = read(command)
            if node[0] in ("rewrite", "birewrite"):
                command = show(without_option(node, ":name", 1))
        yield command


def options(node):
    """A rewrite's options by name, with their values."""
    found = {}
    for word in node:
        if isinstance(word, str) and word.startswith(":"):
            name = word
            found[name] = []
        else:
            found[name].append(word)
    return found


def naive_rule(left, right, given, name):
    """The rule that a rewrite stands for, with :naive."""
    root = "the-root"
    facts = [["=", root, left]] + given.get(":when", [[]])[0]
    actions = [["union", root, right]] + ([["subsume", left]] if ":subsume" in given else [])
    rule = ["rule", facts, actions, ":naive"]
    for option in (":ruleset",):
        if option in given:
            rule += [option, *given[option]]
    return rule + ([":name", name] if name else [])


def naive(text):
    """The program with every rule evaluated naively."""
    for command in commands(text):
        node = read(command)
        if node[0] == "rule" and ":naive" not in node:
            yield show(node + [":naive"])
        elif node[0] in ("rewrite", "birewrite"):
            given = options(node[3:])
            name = given.get(":name", [None])[0]
            yield show(naive_rule(node[1], node[2], given, name))
            if node[0] == "birewrite":
                back = f'{name[:-1]} back"' if name else None
                yield show(naive_rule(node[2], node[1], given, back))
        else:
            yield command
