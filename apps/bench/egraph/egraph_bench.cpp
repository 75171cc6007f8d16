// Times the e-graph engine. Links luminal::egraph and uses its public headers only. Cases:
//   program               runs the file of the setting `file` in a fresh e-graph; the time includes
//                         parsing. Answers have the tuples, the sizes of all tables, and the memory
//                         that the run took, which a process can tell of its first run alone
//   program-with-proofs   the same while recording proofs
//   idle                  calls of a ruleset with as many rules as the setting `rules` says, when
//                         no table has changed since the last call; a run is the mean of 100
#include "luminal/egraph/egraph.h"

#include <chrono>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "apps/bench/harness/bench_main.h"
#include "apps/bench/harness/prepared.h"
#include "luminal/version.h"

namespace {

using luminal::bench::Json;
using luminal::bench::Prepared;
using luminal::egraph::EGraph;
using luminal::egraph::Schedule;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A value of /proc/self/status in bytes: VmHWM is the peak, VmRSS the current size.
uint64_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with(key + ":")) return std::stoull(line.substr(key.size() + 1)) * 1024;
  }
  return 0;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("can't read " + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class Program : public Prepared {
 public:
  Program(std::string path, bool with_proofs)
      : path_(std::move(path)), text_(read_file(path_)), with_proofs_(with_proofs) {}

  double run() override {
    const uint64_t before = status_bytes("VmRSS");
    EGraph egraph;
    if (with_proofs_) egraph.record_proofs();
    const auto start = Clock::now();
    egraph.run_program(text_, path_);
    const double seconds = seconds_since(start);
    const auto grown = [before](uint64_t bytes) { return bytes > before ? bytes - before : 0; };
    facts_ = {{"tuples", egraph.tuples()},
              {"held_bytes", grown(status_bytes("VmRSS"))},
              {"peak_bytes", grown(status_bytes("VmHWM"))},
              {"sizes", egraph.run_program("(print-size)", "sizes").outputs.at(0)}};
    return seconds;
  }
  void add_facts(Json& answer) override { answer.update(facts_); }

 private:
  std::string path_, text_;
  bool with_proofs_;
  Json facts_ = Json::object();
};

// Rules of one to four atoms over a few tables, like a compiler's; all have matched once.
std::string idle_program(int rules) {
  std::string text =
      "(datatype T (Leaf i64) (Neg T) (Add T T) (Mul T T) (Op i64 T T))\n(ruleset all)\n";
  constexpr int kKinds = 4;
  for (int i = 0; i < rules; ++i) {
    const std::string n = std::to_string(i);
    const std::string left = i % kKinds == 0   ? "(Op " + n + " a b)"
                             : i % kKinds == 1 ? "(Add (Mul a (Leaf " + n + ")) b)"
                             : i % kKinds == 2 ? "(Neg (Neg (Neg (Op " + n + " a b))))"
                                               : "(Mul (Add a b) (Add (Op " + n + " a b) b))";
    text += "(rewrite " + left + " (Add a b) :ruleset all :name \"rule " + n + "\")\n";
  }
  text += "(Add (Mul (Leaf 1) (Leaf 2)) (Neg (Op 3 (Leaf 4) (Leaf 5))))\n";
  text += "(run-schedule (saturate all))\n";
  return text;
}

class IdleCalls : public Prepared {
 public:
  explicit IdleCalls(int rules) {
    egraph_.run_program(idle_program(rules), "idle");
    call_ = Schedule::run(egraph_.ruleset("all"));
  }

  double run() override {
    constexpr int kCalls = 100;
    const auto start = Clock::now();
    for (int i = 0; i < kCalls; ++i) {
      if (egraph_.run(call_).changed) throw std::runtime_error("an idle call changed something");
    }
    return seconds_since(start) / kCalls;
  }
  void add_facts(Json& answer) override { answer["rules"] = egraph_.rules(); }

 private:
  EGraph egraph_;
  Schedule call_;
};

std::unique_ptr<Prepared> prepare(const std::string& of, const Json& settings) {
  if (of == "idle") return std::make_unique<IdleCalls>(settings.at("rules"));
  return std::make_unique<Program>(settings.at("file"), of == "program-with-proofs");
}

}  // namespace

int main(int argc, char** argv) {
  return luminal::bench::bench_main({.name = "luminal",
                                     .version = LUMINAL_VERSION,
                                     .cases = {"program", "program-with-proofs", "idle"},
                                     .settings = {{"file", ""}, {"rules", 400}},
                                     .answer = luminal::bench::answer_by_runs(prepare)},
                                    argc, argv);
}
