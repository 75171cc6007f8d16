// Chains of views against NumPy: reads what view_chains.py wrote (its path is the argument).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "luminal/base/errors.h"
#include "luminal/shape/shape.h"
#include "tests/shape/print_expr.h"

namespace luminal {
namespace {

std::string chains_path;

struct View {
  std::string name;
  std::vector<int64_t> arguments;
  int64_t at(size_t k) const { return arguments[k]; }
  int axis() const { return static_cast<int>(arguments[0]); }
};

struct Case {
  std::vector<int64_t> dims, strides, result, elements;
  bool strided = false;
  int64_t offset = 0;
  std::vector<View> views;
  std::string text;
};

std::vector<Case> read_cases() {
  std::ifstream in(chains_path);
  std::vector<Case> cases;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    View view;
    words >> view.name;
    for (int64_t n; words >> n;) view.arguments.push_back(n);
    if (view.name == "case") {
      cases.emplace_back();
      continue;
    }
    Case& current = cases.back();
    if (view.name != "elements") current.text += line + "\n";
    if (view.name == "dims") {
      current.dims = view.arguments;
    } else if (view.name == "strides") {
      current.strided = true;
      current.offset = view.arguments.back();
      current.strides.assign(view.arguments.begin(), view.arguments.end() - 1);
    } else if (view.name == "result") {
      current.result = view.arguments;
    } else if (view.name == "elements") {
      current.elements = view.arguments;
    } else {
      current.views.push_back(view);
    }
  }
  return cases;
}

Dims to_dims(std::span<const int64_t> sizes) { return {sizes.begin(), sizes.end()}; }

// A case with some dims of the buffer as variables, whose values are kept aside.
class Chain {
 public:
  explicit Chain(const Case& c) : case_(c) {}

  // Makes every second dim of size > 1 (and of size 0) variable, some as a multiple of a variable.
  Shape start(bool symbolic) {
    symbolic_ = symbolic;
    Dims dims = to_dims(case_.dims);
    for (size_t k = 0; symbolic && k < dims.size(); ++k) {
      const int64_t size = case_.dims[k];
      if (size == 1 || (k + case_.views.size()) % 2 == 0) continue;
      const int64_t factor = size % 3 == 0 && size > 3 ? 3 : size % 2 == 0 && size > 2 ? 2 : 1;
      const std::string name = "v" + std::to_string(k);
      dims[k] = Expr::var(name, k % 2) * factor;
      if (size == 0) dims[k] = Expr::var(name);
      bindings.set(name, size / factor);
    }
    return case_.strided
               ? Shape::strided(dims, {case_.strides.begin(), case_.strides.end()}, case_.offset)
               : Shape(dims);
  }

  Shape apply(const Shape& shape, const View& view) const {
    const std::vector<Expr> args(view.arguments.begin(), view.arguments.end());
    const auto int_args = std::vector<int>(view.arguments.begin(), view.arguments.end());
    if (view.name == "permute") return shape.permute(int_args);
    if (view.name == "unsqueeze") return shape.unsqueeze(view.axis());
    if (view.name == "squeeze") return shape.squeeze(view.axis());
    if (view.name == "flip") return shape.flip(view.axis());
    if (view.name == "pad") return shape.pad(view.axis(), args[1], args[2]);
    if (view.name == "windows") return shape.windows(view.axis(), args[1], args[2], args[3]);
    if (view.name == "merge") return shape.merge(view.axis(), int_args[1]);
    if (view.name == "slice") {
      // A stop at the end of a symbolic dim stays symbolic.
      const Expr n = shape.dim(view.axis());
      const Expr stop = symbolic_ && view.at(2) == value(n) ? n : args[2];
      return shape.slice(view.axis(), args[1], stop, args[3]);
    }
    if (view.name == "expand") {
      Dims dims = args;
      for (size_t k = 0; k < dims.size(); ++k) {
        if (value(shape.dims()[k]) == view.at(k)) dims[k] = shape.dims()[k];
      }
      return shape.expand(dims);
    }
    if (view.name == "split") {
      const std::vector<Expr> tail(args.begin() + 1, args.end());
      return shape.split(view.axis(), with_product(tail, shape.dim(view.axis())));
    }
    EXPECT_EQ(view.name, "reshape");
    if (!args.empty() && shape.rank() > 0 && view.at(0) == value(shape.dims()[0]) &&
        !shape.dims()[0].is(0)) {
      Dims dims = with_product({args.begin() + 1, args.end()},
                               n_elements({shape.dims().begin() + 1, shape.dims().end()}));
      dims.insert(dims.begin(), shape.dims()[0]);
      return shape.reshape(dims);
    }
    return shape.reshape(with_product(args, shape.n_elements()));
  }

  Bindings bindings;

 private:
  int64_t value(Expr e) const { return e.evaluate(bindings).value.value_or(-1); }

  // `sizes` with one of them replaced so that their product is `total`, if that is possible.
  std::vector<Expr> with_product(std::vector<Expr> sizes, Expr total) const {
    if (n_elements(sizes) == total) return sizes;
    for (size_t k = 0; k < sizes.size(); ++k) {
      std::vector<Expr> tried = sizes;
      tried[k] = 1;
      const Expr others = n_elements(tried);
      if (others.is(0)) continue;
      tried[k] = total / others;
      if (n_elements(tried) == total && value(tried[k]) == value(sizes[k])) return tried;
    }
    return sizes;
  }

  const Case& case_;
  bool symbolic_ = false;
};

// Compares every element of `shape` with NumPy's.
void check_elements(const Case& c, const Shape& shape, const Bindings& bindings) {
  const Expr index = shape.index(), valid = shape.valid();
  const auto strides = shape.strides();
  const bool contiguous = shape.is_contiguous();
  const auto reach = shape.n_physical_elements().evaluate(bindings).value;
  ASSERT_TRUE(reach) << c.text;
  std::vector<int64_t> at(c.result.size(), 0);
  for (size_t n = 0; n < c.elements.size(); ++n) {
    const auto position = index.evaluate(bindings, at);
    const auto inside = valid.evaluate(bindings, at);
    ASSERT_TRUE(inside.value) << c.text << inside.why << "\n" << valid.text();
    // Only where a symbolic dim turned out to be 0 may padding have no position.
    const bool excused = !*inside.value && std::ranges::count(c.dims, 0) > 0;
    ASSERT_TRUE(position.value || excused) << c.text << position.why << "\n" << index.text();
    ASSERT_EQ(*inside.value ? position.value.value_or(-2) + 1 : 0, c.elements[n])
        << c.text << "element " << n << "\n"
        << shape.text();
    if (*inside.value) {
      ASSERT_LT(*position.value, *reach) << c.text << shape.text();
    }
    if (contiguous) {
      ASSERT_EQ(*position.value, static_cast<int64_t>(n)) << c.text << shape.text();
    }
    if (strides && position.value) {
      Expr sum = shape.offset();
      for (size_t k = 0; k < at.size(); ++k) sum = sum + (*strides)[k] * at[k];
      ASSERT_EQ(sum.evaluate(bindings).value, position.value) << c.text << shape.text();
    }
    for (size_t k = at.size(); k-- > 0;) {
      if (++at[k] < c.result[k]) break;
      at[k] = 0;
    }
  }
}

TEST(ViewChains, ShowWhatNumPyShows) {
  const std::vector<Case> cases = read_cases();
  ASSERT_GE(cases.size(), 2000u) << "run view_chains.py and give its output as the argument";
  for (const Case& c : cases) {
    Chain chain(c);
    Shape shape = chain.start(false);
    for (const View& view : c.views) shape = chain.apply(shape, view);
    ASSERT_TRUE(same_dims(shape.dims(), to_dims(c.result))) << c.text << shape.text();
    check_elements(c, shape, {});
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(ViewChains, ShowTheSameWithSymbolicDims) {
  size_t complete = 0, with_variables = 0;
  for (const Case& c : read_cases()) {
    Chain chain(c);
    Shape shape = chain.start(true);
    try {
      for (const View& view : c.views) shape = chain.apply(shape, view);
    } catch (const UserError&) {
      continue;  // equal for these values only: a split of v, a squeeze of v - 2
    }
    ++complete;
    with_variables += !shape.n_elements().variables().empty();
    const Shape resolved = shape.resolve(chain.bindings);
    ASSERT_TRUE(same_dims(resolved.dims(), to_dims(c.result))) << c.text << shape.text();
    check_elements(c, resolved, {});
    check_elements(c, shape, chain.bindings);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(complete, 1000u);
  EXPECT_GT(with_variables, 400u);
  RecordProperty("complete", static_cast<int>(complete));
  RecordProperty("with_variables", static_cast<int>(with_variables));
}

}  // namespace
}  // namespace luminal

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1) luminal::chains_path = argv[1];
  if (!std::filesystem::exists(luminal::chains_path)) {
    std::puts("SKIPPED: give the file that view_chains.py writes (it needs NumPy) as the argument");
    return 77;
  }
  return RUN_ALL_TESTS();
}
