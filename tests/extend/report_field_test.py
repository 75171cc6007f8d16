"""A new field of a report is two edits: the member, and its row in the table. It is then in the JSON, in the text, in the
bytes kept beside a plan and in saved reports. Usage: report_field_test.py SOURCE_DIR [COMPILER]"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1])
COMPILER = sys.argv[2] if len(sys.argv) > 2 else "c++"

MEMBER, TABLE = "luminal/driver/report.h", "luminal/driver/report/report_fields.h"
# By file: a line of it, and what is put below.
EDITS = {
    MEMBER: ("  double launch_us = 0;\n", "  double spilled_bytes = 0;\n"),
    TABLE: ('    json_and_bytes("launch_us", &KernelReport::launch_us),\n',
            '    json_and_bytes("spilled_bytes", &KernelReport::spilled_bytes, text_line("spilled bytes")),\n'),
}

# All that writes and reads reports, as one unit: each header is compiled once.
PROGRAM = """
#include "luminal/driver/report/report_bytes.cpp"
#include "luminal/driver/report/report_fusion.cpp"
#include "luminal/driver/report/report_json.cpp"
#include "luminal/driver/report/report.cpp"
#include "luminal/base/errors.cpp"
#include "luminal/base/text/json_text.cpp"
#include "luminal/io/file/json_fault.cpp"
#include "apps/cli/files/report_file.cpp"

#include <iostream>

int main() {
  using namespace luminal;
  CompileReport report;
  report.kernels.emplace_back().spilled_bytes = 12.5;
  base::ByteWriter out;
  write_report(out, report, ReportMark(CompileReport()));
  base::ByteReader in(out.bytes());
  CompileReport kept;
  read_report(in, kept);
  in.finish();
  base::JsonText json;
  json.begin_object();
  json.field("written", report.json());
  json.field("kept", kept.kernels.at(0).spilled_bytes);
  json.field("saved", cli::parse_report(report.json(), "it").kernels.at(0).spilled_bytes);
  json.field("text", report.text());
  json.end_object();
  std::cout << json.text();
}
"""


def plant(folder, files):
    """Copies of these files with the field; other files are read where they are."""
    for name in files:
        text = (SOURCE / name).read_text()
        anchor, added = EDITS[name]
        assert text.count(anchor) == 1, f"{anchor!r} is in {name} {text.count(anchor)} times"
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(anchor, anchor + added))


def compiled(folder, program, *options):
    source = folder / "program.cpp"
    source.write_text(program)
    return subprocess.run([COMPILER, "-std=c++20", "-O0", "-DFMT_HEADER_ONLY", f"-I{folder}", f"-I{SOURCE}", source, *options],
                          capture_output=True, text=True)


class NewField(unittest.TestCase):
    def test_two_edits_write_it_in_every_form(self):
        self.assertEqual(len(EDITS), 2)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            plant(folder, EDITS)
            built = compiled(folder, PROGRAM, "-o", folder / "program")
            self.assertEqual(built.returncode, 0, built.stderr[:4000])
            output = subprocess.run([folder / "program"], capture_output=True, text=True, check=True).stdout
        found = json.loads(output)
        kernel = json.loads(found["written"])["kernels"][0]
        self.assertEqual(kernel["spilled_bytes"], 12.5)
        keys = list(kernel)
        self.assertEqual(keys[keys.index("launch_us") + 1], "spilled_bytes")  # in the order of the table
        self.assertEqual((found["kept"], found["saved"]), (12.5, 12.5))
        self.assertIn("    spilled bytes: 12.5\n", found["text"])

    def test_a_member_without_its_row_does_not_compile(self):
        program = f'#include "{TABLE}"\n'
        for planted, is_refused in (((MEMBER,), True), ((TABLE,), True), (EDITS, False)):
            with self.subTest(planted=tuple(planted)), tempfile.TemporaryDirectory() as name:
                plant(pathlib.Path(name), planted)
                checked = compiled(pathlib.Path(name), program, "-fsyntax-only")
                self.assertEqual(checked.returncode != 0, is_refused, checked.stderr)
                if planted == (MEMBER,):
                    self.assertRegex(checked.stderr, r"kListsAllMembers<(luminal::)?KernelReport>")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
