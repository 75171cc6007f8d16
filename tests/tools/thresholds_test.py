"""Every named constant of kernel, search and backends is in the table of docs/decisions/0028, with what may overrule it; and
a kernel is recognised once."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
TABLE = ROOT / "docs/decisions/0028-choices-are-data.md"
MODULES = ("kernel", "search", "backends")
KINDS = {"Knob", "Strategy", "Model", "Search", "Limit", "Fact", "Open"}
DECLARED = re.compile(r"^\s*(?:static )?(?:inline )?constexpr (?!auto\b.*\()([^;=({]*?)\b(k[A-Z]\w*)\s*(?:\[\]|\{|=)", re.M)
ALSO = re.compile(r",\s*(k[A-Z]\w*)\s*=")


def constants():
    found = set()
    for module in MODULES:
        for path in sorted((ROOT / "luminal" / module).rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            name = str(path.relative_to(ROOT / "luminal"))
            text = path.read_text()
            for match in DECLARED.finditer(text):
                if re.search("char|string_view", match[1]):
                    continue  # a text decides nothing
                found.add((name, match[2]))
                statement = text[match.end():text.index(";", match.end())] if match[0].rstrip()[-1] == "=" else ""
                found.update((name, other) for other in ALSO.findall(statement))
    return found


def rows():
    listed = {}
    for line in TABLE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and cells[0].startswith("`"):
            for constant in re.findall(r"`(k\w+)`", cells[1]):
                listed[(cells[0].strip("`"), constant)] = (cells[2], cells[3])
    return listed


class Thresholds(unittest.TestCase):
    def test_each_constant_is_listed(self):
        self.assertEqual(sorted(constants() - set(rows())), [], "add them to the table of decision 0028")

    def test_each_row_is_a_constant(self):
        self.assertEqual(sorted(set(rows()) - constants()), [], "remove them from the table of decision 0028")

    def test_kinds_are_known_and_have_reasons(self):
        knobs = set(re.findall(r'KNOB\(\w+, "(\w+)"', (ROOT / "luminal/kernel/plan/knobs.def").read_text()))
        for where, (kind, reason) in rows().items():
            word, *knob = kind.split()
            self.assertIn(word, KINDS, where)
            self.assertTrue(reason, where)
            self.assertEqual(word == "Knob", bool(knob), where)
            if knob:
                self.assertIn(knob[0], knobs, where)

    def test_the_scanner_sees_constants(self):
        self.assertGreater(len(constants()), 120)


class RecognisedOnce(unittest.TestCase):
    """What a kernel is, is asked when it is finished: by kernel/recognise/forms.cpp, and by recognisers of one another."""

    CALL = re.compile(r"\b(contraction_form|row_block_form|softmax_form|split_softmax|masked_range|quantised_form)\(")

    def test_nobody_else_asks_a_recogniser(self):
        calls = []
        for path in sorted((ROOT / "luminal").rglob("*.cpp")):
            if "kernel/recognise" in str(path):
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if self.CALL.search(line.split("//")[0]):
                    calls.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
        self.assertEqual(calls, [], "read forms_of(kernel) instead")


if __name__ == "__main__":
    unittest.main()
