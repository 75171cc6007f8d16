"""How many files of luminal/ an element-wise primitive and an integer dtype take, and that the compiler names the places.

Usage: count_places_test.py SOURCE_DIR COMPILER [INCLUDE_DIR…]

Both are planted in a copy of the sources by the edits below; whatever switches over ops or dtypes must still compile.
docs/how-to/op.md describes the same edits.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, COMPILER, INCLUDES = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
MOST_FILES = 6

# (file, text that stands there once, what is inserted behind it)
PRIMITIVE = (
    ("luminal/graph/ops.def", 'OP(Sqrt, "sqrt", 1, Unary, Floats, 4)    // -0 gives -0, negative gives NaN\n',
     'OP(Trunc, "trunc", 1, Unary, Floats, 1)  // toward zero; exact\n'),
    ("luminal/graph/primitives.h", "LUMINAL_API Tensor sqrt(const Tensor& x);\n",
     "LUMINAL_API Tensor trunc(const Tensor& x);\n"),
    ("luminal/graph/primitives.cpp", "Tensor sqrt(const Tensor& x) { return make(Op::Sqrt, {x}); }\n",
     "Tensor trunc(const Tensor& x) { return make(Op::Trunc, {x}); }\n"),
    ("luminal/graph/interpret/scalar_ops.cpp",
     "      return map_real(in, out, count, [](double x) { return std::sqrt(x); });\n",
     "    case FloatOp::Trunc:\n      return map_real(in, out, count, [](double x) { return std::trunc(x); });\n"),
    ("luminal/backends/cpu/math/emit_ops.cpp",
     "      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, in[0]);\n",
     "    case FloatOp::Trunc:\n      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, in[0]);\n"),
)
DTYPE = (
    ("luminal/shape/dtypes.def", 'DTYPE(I16, "i16", 16, Int, 0, int16_t)\n', 'DTYPE(U16, "u16", 16, Int, 0, uint16_t)\n'),
    ("luminal/shape/dtype.h", "    return DType::I8;\n",
     "  else if constexpr (std::is_same_v<T, uint16_t>)\n    return DType::U16;\n"),
    ("luminal/driver/npy.cpp", "{\"'|u1'\", DType::U8},", " {\"'<u2'\", DType::U16},"),
    ("luminal/io/safetensors/safetensors_header.cpp", '{"U8", 8, DType::U8},', ' {"U16", 16, DType::U16},'),
)
# What the library then knows without another edit.
KNOWN = """
#include "luminal/graph/op_subsets.h"
#include "luminal/shape/dtype_traits.h"
namespace luminal {
static_assert(static_cast<int>(FloatOp::Trunc) == static_cast<int>(Op::Trunc));
static_assert(dtype_of<uint16_t>() == DType::U16 && DTypeTraits<DType::U16>::kind == DTypeKind::Int);
static_assert(std::is_same_v<DTypeTraits<DType::U16>::Storage, uint16_t>);
}  // namespace luminal
"""
RULES = {"terms": "(constructor Trunc (Value) Value)", "facts": ':name "type-of-trunc"', "algebra": '(fold "trunc" c)'}

SWITCHES = re.compile(r"case (?:Op|FloatOp|IntegerOp|StructuralOp|OpClass|DType|DTypeKind)::|dtypes\.def|ops\.def")


def plant(root, edits):
    for name, anchor, inserted in edits:
        path = root / name
        text = path.read_text()
        if text.count(anchor) != 1:
            sys.exit(f"count_places: {name} has this {text.count(anchor)} times, not once; update the edit:\n{anchor}")
        path.write_text(text.replace(anchor, anchor + inserted))


def compile_errors(root, names):
    """What the compiler says of these sources, read as one as in a unity build; empty where they compile."""
    command = [COMPILER, "-std=c++20", "-fsyntax-only", "-Werror=switch", f"-I{root}", "-x", "c++", "-"]
    for folder in INCLUDES:
        command += ["-isystem", folder]
    joined = "".join(f'#include "{name}"\n' for name in names)
    result = subprocess.run(command, input=joined, cwd=root, text=True, capture_output=True)
    return result.stderr if result.returncode else ""


class CountPlaces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = pathlib.Path(cls.folder.name)
        not_sources = shutil.ignore_patterns("*.txt", "LAYERS", "*.md")
        shutil.copytree(SOURCE / "luminal", cls.root / "luminal", ignore=not_sources)
        plant(cls.root, PRIMITIVE + DTYPE)

    def test_few_files_are_touched(self):
        for what, edits in (("a primitive", PRIMITIVE), ("a dtype", DTYPE)):
            files = {name for name, _, _ in edits}
            print(f"{what}: {len(files)} files: {' '.join(sorted(files))}")
            self.assertLessEqual(len(files), MOST_FILES, what)

    def test_all_that_switches_over_ops_and_dtypes_compiles(self):
        switching = [path for path in (self.root / "luminal").rglob("*.cpp") if SWITCHES.search(path.read_text())]
        names = {str(path.relative_to(self.root)) for path in switching}
        self.assertGreater(len(names), 12)
        names |= {name for name, _, _ in PRIMITIVE + DTYPE if name.endswith(".cpp")}
        (self.root / "luminal/shape/known.cpp").write_text(KNOWN)
        names.add("luminal/shape/known.cpp")
        for module in sorted({name.split("/")[1] for name in names}):
            with self.subTest(module):
                of_module = sorted(name for name in names if name.startswith(f"luminal/{module}/"))
                self.assertEqual(compile_errors(self.root, of_module), "")

    def test_a_place_that_was_forgotten_does_not_compile(self):
        for name, _, inserted in PRIMITIVE:
            if "case " not in inserted:
                continue
            with self.subTest(name):
                path = self.root / name
                planted = path.read_text()
                path.write_text(planted.replace(inserted, ""))
                errors = compile_errors(self.root, [name])
                path.write_text(planted)
                self.assertIn("Trunc", errors)
                self.assertIn("-Werror=switch", errors.replace("-Werror,-Wswitch", "-Werror=switch"))  # clang's

    def test_the_rules_know_the_primitive(self):
        sys.path.insert(0, str(SOURCE / "tools/docs"))
        from tables import expanded
        for name, wanted in RULES.items():
            text = expanded((self.root / f"luminal/rules/{name}.egg").read_text(), self.root)
            self.assertEqual(text.count(wanted), 1, wanted)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
