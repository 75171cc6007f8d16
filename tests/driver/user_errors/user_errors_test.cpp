// Mistakes and the message that each gets, held against tests/golden/user_errors.txt. After a
// message changed on purpose, `user_errors_test --update` writes that file.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "tests/driver/user_errors/mistakes.h"
#include "tests/io/temporary_folder.h"

namespace luminal {
namespace {

const std::filesystem::path kGolden =
    std::filesystem::path(LUMINAL_TESTS) / "golden/user_errors.txt";

std::vector<Mistake> mistakes() {
  std::vector<Mistake> all;
  for (const auto& part : {building_mistakes(), graph_mistakes(), compiling_mistakes(),
                           running_mistakes(), file_mistakes()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

std::string message_of(const Mistake& mistake) {
  Graph graph;
  try {
    mistake.make(graph);
    return "NO ERROR";
  } catch (const UserError& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("NOT A USER ERROR: ") + error.what();
  }
}

const std::string& all_messages() {
  static const std::string messages = [] {
    std::string out;
    for (const Mistake& mistake : mistakes()) {
      out += std::string("# ") + mistake.title + "\n" + message_of(mistake) + "\n\n";
    }
    return out;
  }();
  return messages;
}

TEST(UserErrors, AreTheGoldenOnes) {
  std::ifstream file(kGolden);
  std::stringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(all_messages(), expected.str()) << "meant so? user_errors_test --update";
}

TEST(UserErrors, AreSixtyOrMoreAndAllUserErrors) {
  EXPECT_GE(mistakes().size(), 60u);
  EXPECT_EQ(all_messages().find("NO ERROR"), std::string::npos) << all_messages();
  EXPECT_EQ(all_messages().find("NOT A USER ERROR"), std::string::npos) << all_messages();
}

}  // namespace
}  // namespace luminal

int main(int argc, char** argv) {
  // Mistakes with files make them where they are.
  const luminal::TemporaryFolder folder;
  std::filesystem::current_path(folder.path());
  if (argc == 2 && std::string_view(argv[1]) == "--update") {
    std::ofstream(luminal::kGolden) << luminal::all_messages();
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
