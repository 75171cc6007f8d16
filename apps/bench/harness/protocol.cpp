#include "apps/bench/harness/protocol.h"

#include <algorithm>
#include <istream>
#include <ostream>

namespace luminal::bench {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

bool same_kind(const Json& a, const Json& b) {
  return a.type() == b.type() || (a.is_number() && b.is_number());
}

// The defaults with what the command sets.
Json settings_of(const Contestant& contestant, const Json& given) {
  Json settings = contestant.settings;
  for (const auto& [name, value] : given.items()) {
    const auto known = settings.find(name);
    if (known == settings.end()) {
      std::vector<std::string> names;
      for (const auto& entry : contestant.settings.items()) names.push_back(entry.key());
      throw std::invalid_argument("there is no setting '" + name + "'; there are " + joined(names));
    }
    if (!same_kind(*known, value)) {
      throw std::invalid_argument("the setting '" + name + "' is not like " + known->dump());
    }
    *known = value;
  }
  return settings;
}

Command read_command(const Contestant& contestant, const Json& line) {
  static const std::vector<std::string> kFields = {"run", "times", "seconds", "settings", "write"};
  for (const auto& field : line.items()) {
    if (std::ranges::find(kFields, field.key()) == kFields.end()) {
      throw std::invalid_argument("a command has no field '" + field.key() + "'; it has " +
                                  joined(kFields));
    }
  }
  Command command{.of = line.at("run").get<std::string>(),
                  .times = line.value("times", int64_t{1}),
                  .seconds = line.value("seconds", 0.0),
                  .settings = settings_of(contestant, line.value("settings", Json::object())),
                  .write = line.value("write", std::string())};
  if (command.times < 0 || command.seconds < 0) {
    throw std::invalid_argument("times and seconds are 0 or more");
  }
  if (std::ranges::find(contestant.cases, command.of) == contestant.cases.end()) {
    throw std::invalid_argument("there is no case '" + command.of + "'; there are " +
                                joined(contestant.cases));
  }
  return command;
}

void write_line(std::ostream& out, const Json& line) {
  // Names of files may be of any bytes; a line is always UTF-8.
  out << line.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
}

}  // namespace

Json announcement(const Contestant& contestant) {
  return {{"contestant", contestant.name},
          {"version", contestant.version},
          {"cases", contestant.cases},
          {"settings", contestant.settings}};
}

Json answer_to(const Contestant& contestant, const Json& command) {
  Json line = Json::object();
  if (!command.is_object() || !command.contains("run") || !command["run"].is_string()) {
    line["error"] = "a command is {\"run\": CASE, …} or {\"quit\": true}";
    line["status"] = "failed";
    return line;
  }
  line["case"] = command["run"];
  try {
    line.update(contestant.answer(read_command(contestant, command)));
  } catch (const Refusal& refusal) {
    line["error"] = refusal.what();
    line["status"] = refusal.status();
  } catch (const std::exception& error) {
    line["error"] = error.what();
    line["status"] = "failed";
  }
  return line;
}

void serve(const Contestant& contestant, std::istream& in, std::ostream& out) {
  write_line(out, announcement(contestant));
  for (std::string text; std::getline(in, text);) {
    if (text.empty()) continue;
    const Json command = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (command.is_object() && command.value("quit", Json()) == true) return;
    write_line(out, answer_to(contestant, command));
  }
}

}  // namespace luminal::bench
