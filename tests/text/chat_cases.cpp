// luminal_chat_cases: renders chat templates and compares with what Jinja made of them.
//
// chat_oracle.py writes the cases and runs this: a JSON list of template, messages, variables and
// what is expected, which is a text or nothing where Jinja fails.
#include <fmt/format.h>

#include <exception>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "luminal/base/errors.h"
#include "luminal/text/chat_template.h"

namespace luminal {
namespace {

using Json = nlohmann::ordered_json;

std::optional<std::string> rendered(const Json& one, std::string& why) {
  ChatOptions options{.add_generation_prompt = one["add_generation_prompt"].get<bool>(),
                      .bos_token = one["bos_token"].get<std::string>(),
                      .eos_token = one["eos_token"].get<std::string>(),
                      .variables = one["variables"].dump(),
                      .now = one["now"].get<int64_t>()};
  try {
    return ChatTemplate(one["template"].get<std::string>())
        .render_json(one["messages"].dump(), options);
  } catch (const UserError& error) {
    why = error.what();
    return std::nullopt;
  }
}

int run(const std::string& path) {
  const Json cases = Json::parse(std::ifstream(path));
  int different = 0;
  int refused = 0;
  for (const Json& one : cases) {
    std::string why;
    const auto text = rendered(one, why);
    const bool must_fail = one["expected"].is_null();
    refused += must_fail;
    const bool same = must_fail ? !text : text && *text == one["expected"].get<std::string>();
    if (same) continue;
    if (++different > 10) continue;
    std::cout << "different: " << one["name"].get<std::string>() << "\n  "
              << one["template"].dump().substr(0, 300) << "\n  made   "
              << (text ? Json(*text).dump() : "nothing: " + why) << "\n  not    "
              << one["expected"].dump() << "\n";
  }
  std::cout << fmt::format("{} renderings, {} refused by both, {} different\n", cases.size(),
                           refused, different);
  return different == 0 && !cases.empty() ? 0 : 1;
}

}  // namespace
}  // namespace luminal

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: luminal_chat_cases CASES\n";
    return 2;
  }
  try {
    return luminal::run(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << "luminal_chat_cases: " << error.what() << "\n";
    return 1;
  }
}
