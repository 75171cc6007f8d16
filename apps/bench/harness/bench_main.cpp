#include "apps/bench/harness/bench_main.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "apps/bench/harness/statistics.h"

namespace luminal::bench {
namespace {

constexpr double kConfidence = 0.95;

std::string time_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} µs", seconds * 1e6);
}

// "1.234 ms, the median of 9 (1.2 ms … 1.3 ms)"
std::string times_text(const std::vector<double>& seconds) {
  if (seconds.empty()) return "not timed";
  std::string text = time_text(median(seconds));
  if (seconds.size() == 1) return text;
  text += fmt::format(", the median of {}", seconds.size());
  const Interval interval = median_interval(seconds, kConfidence);
  if (interval.low == 0) return text;
  return text + fmt::format(" ({} … {})", time_text(interval.low), time_text(interval.high));
}

void print_answer(const Json& answer) {
  const std::string of = answer.value("case", "");
  if (answer.contains("error")) {
    std::cerr << of << ": " << answer["error"].get<std::string>() << "\n";
    return;
  }
  std::cout << of << ": " << times_text(answer.value("seconds", std::vector<double>())) << "\n";
  for (const auto& [name, value] : answer.items()) {
    if (name == "case" || name == "seconds") continue;
    std::cout << "  " << name << ": "
              << (value.is_string() ? value.get<std::string>() : value.dump()) << "\n";
  }
  std::cout << std::flush;
}

// NAME=VALUE; the value is JSON, else a text.
void read_setting(const std::string& word, size_t equals, Json& settings) {
  const std::string value = word.substr(equals + 1);
  Json parsed = Json::parse(value, nullptr, /*allow_exceptions=*/false);
  settings[word.substr(0, equals)] = parsed.is_discarded() ? Json(value) : std::move(parsed);
}

}  // namespace

int bench_main(const Contestant& contestant, int argc, char** argv) {
  if (argc == 1) {
    serve(contestant, std::cin, std::cout);
    return 0;
  }
  std::vector<std::string> words;
  int64_t times = 1;
  double seconds = 0;
  bool all = false, json = false;
  CLI::App app(
      fmt::format("{}: runs cases and prints how long they take; without arguments it "
                  "answers commands, see docs/bench-protocol.md\n{}",
                  contestant.name, announcement(contestant).dump()));
  app.add_option("words", words, "Cases, and settings as NAME=VALUE");
  app.add_option("--times", times, "Timed runs of each case")->capture_default_str();
  app.add_option("--seconds", seconds, "Run each case for so long instead");
  app.add_flag("--all", all, "All cases");
  app.add_flag("--json", json, "Print the protocol's lines: the announcement, then the answers");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  Json settings = Json::object();
  std::vector<std::string> cases = all ? contestant.cases : std::vector<std::string>();
  for (const std::string& word : words) {
    if (const size_t equals = word.find('='); equals != std::string::npos) {
      read_setting(word, equals, settings);
    } else {
      cases.push_back(word);
    }
  }
  if (cases.empty()) {
    std::cerr << contestant.name << ": name a case, or use --all; --help lists them\n";
    return 2;
  }
  if (json) std::cout << announcement(contestant).dump() << std::endl;
  bool failed = false;
  for (const std::string& of : cases) {
    const Json answer = answer_to(
        contestant, {{"run", of}, {"times", times}, {"seconds", seconds}, {"settings", settings}});
    failed = failed || answer.contains("error");
    if (json) {
      std::cout << answer.dump() << std::endl;
    } else {
      print_answer(answer);
    }
  }
  return failed ? 1 : 0;
}

}  // namespace luminal::bench
