#include "luminal/driver/execute/probes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "luminal/base/errors.h"
#include "luminal/driver/compile.h"
#include "luminal/graph/composite/arithmetic.h"

namespace luminal {
namespace {

using testing::HasSubstr;

// A file in the test's own folder, gone afterwards.
class Probes : public testing::Test {
 protected:
  Probes() {
    folder_ = std::filesystem::temp_directory_path() /
              ("luminal_probes_" +
               std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder_);
  }
  ~Probes() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& bytes) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  static std::string bytes_of(const std::vector<float>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
  }
  static std::string npy(const std::string& dict, const std::string& data) {
    std::string header = dict;
    header.resize(118, ' ');
    std::string out = std::string("\x93NUMPY\x01", 7) + '\0';
    out += static_cast<char>(118);
    out += '\0';
    return out + header + data;
  }

  std::filesystem::path folder_;
};

std::string run(Graph& graph, const Tensor& x, const std::vector<float>& values) {
  Executable exe = compile(graph);
  exe.set(x, values);
  std::ostringstream out;
  exe.run({.out = &out});
  return out.str();
}

TEST_F(Probes, PrintShowsCountShapeAndEnds) {
  Graph graph;
  Tensor x = graph.input("x", {4, 5});
  (x * 2.0).print("doubled");
  std::vector<float> values(20);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  EXPECT_EQ(run(graph, x, values),
            "doubled: 20 elements, f32[4, 5]\n"
            "  first   0, 2, 4, 6, 8\n"
            "  middle  14, 16, 18, 20, 22\n"
            "  last    30, 32, 34, 36, 38\n");
}

TEST_F(Probes, DiffAgreesWithAnEqualFile) {
  Graph graph;
  Tensor x = graph.input("x", {2, 2});
  x.diff(write("x.bin", bytes_of({1, 2, 3, 4})));
  const std::string out = run(graph, x, {1, 2, 3, 4});
  EXPECT_THAT(out, HasSubstr("equal within tolerance: 0 of 4"));
  EXPECT_THAT(out, HasSubstr("max 0"));
}

TEST_F(Probes, DiffNamesTheWorstPlaces) {
  Graph graph;
  Tensor x = graph.input("x", {2, 2});
  x.diff(write("x.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }",
                            bytes_of({1, 2, 3.5, NAN}))));
  const std::string out = run(graph, x, {1, 2, 3, 4});
  EXPECT_THAT(out, HasSubstr("DIFFERENT: 2 of 4"));
  EXPECT_THAT(out, HasSubstr("NaN: 0 here, 1 in the file"));
  EXPECT_THAT(out, HasSubstr("[1, 0]  here 3  file 3.5  difference 0.5"));
}

TEST_F(Probes, ALabelCannotMoveTheTerminal) {
  Graph graph;
  Tensor x = graph.input("x", {2, 2});
  x.print("a\x1b]0;title\x07");
  EXPECT_THAT(run(graph, x, {1, 2, 3, 4}), HasSubstr("a\\x1b]0;title\\x07: 4 elements"));
}

TEST_F(Probes, DiffRejectsFilesThatDoNotFit) {
  auto message = [&](const std::string& path) {
    Graph graph;
    Tensor x = graph.input("x", {2, 2});
    x.diff(path);
    try {
      run(graph, x, {1, 2, 3, 4});
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message(write("short.bin", bytes_of({1, 2}))), HasSubstr("takes 16"));
  std::string newer =
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", bytes_of({1, 2, 3, 4}));
  newer[6] = 9;
  EXPECT_THAT(message(write("newer.npy", newer)), HasSubstr("version 9"));
  EXPECT_THAT(
      message(write("n.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 2), }",
                                 bytes_of({1, 2, 3, 4})))),
      HasSubstr("negative"));
  EXPECT_THAT(
      message(write("f.npy", npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }",
                                 bytes_of({1, 2, 3, 4})))),
      HasSubstr("Fortran order"));
  EXPECT_THAT(
      message(write("c.npy", npy("{'descr': '<c8', 'fortran_order': False, 'shape': (2, 2), }",
                                 bytes_of({1, 2, 3, 4})))),
      HasSubstr("not supported"));
  EXPECT_THAT(
      message(write("s.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }",
                                 bytes_of({1, 2, 3, 4})))),
      HasSubstr("it holds [4], the tensor is [2, 2]"));
  EXPECT_THAT(message((folder_ / "absent.npy").string()), HasSubstr("absent.npy"));
}

}  // namespace
}  // namespace luminal
