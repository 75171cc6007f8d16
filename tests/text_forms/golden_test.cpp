// Text in, text out: each file of tests/golden/{terms,lower,plan,schedule,cost} has an input and
// what is to come of it. Usage: golden_texts_test FOLDER [--update]
#include <gtest/gtest.h>

#include "luminal/kernel/ir/kernel_text.h"
#include "luminal/kernel/plan/plan_text.h"
#include "tests/text_forms/golden_case.h"

namespace luminal::golden {
namespace {

constexpr size_t kLeastCases = 60;

using Stage = std::string (*)(const Case&);
struct Folder {
  const char* name;
  Stage stage;
};
constexpr Folder kFolders[] = {{"terms", terms_of},
                               {"lower", lowered},
                               {"plan", planned},
                               {"schedule", scheduled},
                               {"cost", costs_of}};

class Golden : public testing::Test {
 public:
  Golden(Stage stage, Case given, bool updates)
      : stage_(stage), given_(std::move(given)), updates_(updates) {}

  void TestBody() override {
    const std::string found = stage_(given_);
    if (updates_) return update(given_, found);
    EXPECT_EQ(found, given_.expected)
        << given_.file << " has another result; if it was meant to, run this test with --update";
    // What is printed is read back as the same.
    if (stage_ == planned) {
      EXPECT_EQ(text(kernel::parse_plan(found)), found);
    }
    if (stage_ == scheduled || stage_ == costs_of) {
      EXPECT_EQ(text(kernel::parse_kernel(given_.input)), given_.input);
    }
  }

 private:
  Stage stage_;
  Case given_;
  bool updates_;
};

int run(const std::filesystem::path& root, bool updates) {
  size_t count = 0;
  for (const Folder& folder : kFolders) {
    for (Case& given : cases_in(root / folder.name)) {
      ++count;
      const std::string name = given.file.stem().string();
      testing::RegisterTest(
          folder.name, name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
          [stage = folder.stage, given, updates] { return new Golden(stage, given, updates); });
    }
  }
  const int failed = RUN_ALL_TESTS();
  if (count >= kLeastCases) return failed;
  std::cerr << "only " << count << " cases were found in " << root << "\n";
  return 1;
}

}  // namespace
}  // namespace luminal::golden

#ifdef LUMINAL_MISTAKES
namespace luminal {
extern int mistake;
}
#endif

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::string option = argc > 2 ? argv[2] : "";
#ifdef LUMINAL_MISTAKES
  if (option == "--mistake" && argc > 3) luminal::mistake = std::stoi(argv[3]);
#endif
  return argc < 2 ? 2 : luminal::golden::run(argv[1], option == "--update");
}
