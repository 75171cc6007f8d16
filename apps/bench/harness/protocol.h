// The protocol of benchmarks, docs/bench-protocol.md: a contestant reads commands and writes
// answers, one JSON object per line.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace luminal::bench {

using Json = nlohmann::ordered_json;

// Run a case.
struct Command {
  std::string of;                  // the case
  int64_t times = 1;               // timed runs; 0: prepare only
  double seconds = 0;              // above 0: as many runs as take this long, instead of `times`
  Json settings = Json::object();  // all of the contestant's, with their defaults filled in
  std::string write = {};          // a file for the case's result; empty: none
};

// Why a contestant doesn't run a case: "absent" (something isn't installed), "unsupported" (it
// can't do that). Other exceptions are "failed".
class Refusal : public std::runtime_error {
 public:
  Refusal(std::string status, const std::string& why)
      : std::runtime_error(why), status_(std::move(status)) {}
  const std::string& status() const { return status_; }

 private:
  std::string status_;
};

struct Contestant {
  std::string name;
  std::string version;
  std::vector<std::string> cases;
  Json settings = Json::object();  // names with their defaults; a command may set these alone
  // The fields of an answer beside "case". Exceptions become errors.
  std::function<Json(const Command&)> answer;
};

Json announcement(const Contestant& contestant);

// The answer to a command as it was received; {"error": …} for one that is wrong or fails.
Json answer_to(const Contestant& contestant, const Json& command);

// Announces the contestant and answers commands until one is {"quit": true} or the input ends.
void serve(const Contestant& contestant, std::istream& in, std::ostream& out);

}  // namespace luminal::bench
