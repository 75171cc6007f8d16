// Prepared: a case that is ready to be timed, and what answers commands with it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "apps/bench/harness/protocol.h"

namespace luminal::bench {

class Prepared {
 public:
  virtual ~Prepared() = default;
  // Runs once; returns the seconds that count.
  virtual double run() = 0;
  // Adds what an answer says beside the seconds; called once after the runs of a command.
  virtual void add_facts(Json& /*answer*/) {}
  virtual void write_result(const std::string& path);
};

// Prepares a case with these settings.
using Prepare = std::function<std::unique_ptr<Prepared>(const std::string& of, const Json&)>;

// For Contestant::answer: prepares a case unless the last command had the same case and settings,
// and runs it as often as the command says: {"seconds": […], …}.
std::function<Json(const Command&)> answer_by_runs(Prepare prepare);

}  // namespace luminal::bench
