"""What the API reference takes from a header, and what it leaves out."""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/docs"))
from cpp_header import read_header  # noqa: E402

HEADER = """\
// Shapes: what a thing looks like.
//
// A second paragraph.
#pragma once

#include <vector>

namespace luminal::things {

class Later;

// How it is drawn.
enum class Style : uint8_t {
  Plain,  // as it is
  Bold,
};

enum class Listed : uint8_t {
#define ROW(name, text) name,
#include "things.def"
#undef ROW
};

struct Options {
  int width = 1;  // in cells
  std::vector<int> more = {};
  std::function<void(int)> done = {};
};

// Keeps count; "quoted { braces" don't matter.
class LUMINAL_API Counter : public Base {
 public:
  explicit Counter(int start) : count_(start), limit_{2} {}
  ~Counter();

  int count() const { return count_; }  // so far
  template <typename T>
  T as() const {
    if (count_ > 0) {
      return T(count_);
    }
    return {};
  }

 private:
  friend class Later;
  int count_ = 0;
  int limit_;
};

// Adds one.
LUMINAL_API int add(int a,
                    int b = 1);
LUMINAL_API int add(double a);
int operator+(Options a, Options b);

inline int twice(int x) { return 2 * x; }

using Name = std::string;
inline constexpr int kMost = 3;

}  // namespace luminal::things

template <>
struct std::hash<luminal::things::Options> {
  size_t operator()(int) const { return 0; }
};
"""


class CppHeader(unittest.TestCase):
    def setUp(self):
        self.header = read_header("things.h", HEADER, lambda path: 'ROW(First, "1")\nROW(Second, "2")\n')
        self.items = {item.names[0]: item for item in self.header.items}

    def test_the_comment_on_top_is_the_headers(self):
        self.assertEqual(self.header.comment, ["Shapes: what a thing looks like.", "", "A second paragraph."])

    def test_every_declaration_is_there_once(self):
        self.assertEqual([item.names for item in self.header.items],
                         [["Style"], ["Listed"], ["Options"], ["Counter"], ["add", "operator+"], ["twice"],
                          ["Name", "kMost"]])
        self.assertEqual([item.kind for item in self.header.items],
                         ["enum", "enum", "struct", "class", "function", "function", "alias"])

    def test_comments_belong_to_what_they_stand_above(self):
        self.assertEqual(self.items["Style"].comment, ["How it is drawn."])
        self.assertEqual(self.items["add"].comment, ["Adds one."])
        self.assertEqual(self.items["twice"].comment, [])

    def test_a_class_is_shown_without_bodies_and_what_is_private(self):
        self.assertEqual(self.items["Counter"].code, """\
class Counter : public Base {
 public:
  explicit Counter(int start);
  ~Counter();

  int count() const;  // so far
  template <typename T>
  T as() const;
};""")

    def test_initialisers_are_no_bodies(self):
        self.assertIn("std::function<void(int)> done = {};", self.items["Options"].code)
        self.assertIn("std::vector<int> more = {};", self.items["Options"].code)

    def test_lines_stay_aligned_without_the_mark_of_exports(self):
        self.assertEqual(self.items["add"].code,
                         "int add(int a,\n        int b = 1);\nint add(double a);\nint operator+(Options a, Options b);")
        self.assertEqual(self.items["twice"].code, "inline int twice(int x);")

    def test_members_of_a_list_are_written_out(self):
        self.assertEqual(self.items["Listed"].code, "enum class Listed : uint8_t {\n  First,\n  Second,\n};")

    def test_a_declaration_without_an_end_names_its_line(self):
        with self.assertRaisesRegex(ValueError, "broken.h:2"):
            read_header("broken.h", "// Broken.\nint f(int a\n", lambda path: "")


if __name__ == "__main__":
    unittest.main()
