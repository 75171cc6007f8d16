// Times the e-graph engine. Links luminal::egraph and uses public headers only.
//   egraph_bench run FILE     runs a program in a fresh e-graph; prints one line of JSON with the
//                             time (including parsing), the sizes of all tables and the memory
//   egraph_bench proofs FILE  the same while recording proofs
//   egraph_bench idle RULES   nanoseconds per call of a ruleset with that many rules if no table
//                             has changed since the last call: the median of many calls
#include "luminal/egraph/egraph.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

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

std::string read_file(const char* path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(std::string("egraph_bench: can't read ") + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// JSON escapes for the text of print-size and errors.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out + "\"";
}

int run(const char* path, bool with_proofs) {
  const std::string text = read_file(path);
  const uint64_t before = status_bytes("VmRSS");
  EGraph egraph;
  if (with_proofs) egraph.record_proofs();
  const auto start = Clock::now();
  try {
    egraph.run_program(text, path);
  } catch (const std::exception& error) {
    std::cout << "{\"error\": " << quoted(error.what()) << "}\n";
    return 1;
  }
  const double seconds = seconds_since(start);
  const uint64_t held = status_bytes("VmRSS"), peak = status_bytes("VmHWM");
  const uint64_t tuples = egraph.tuples();
  const auto grown = [before](uint64_t bytes) { return bytes > before ? bytes - before : 0; };
  const auto sizes = egraph.run_program("(print-size)", "sizes").outputs;
  std::printf(
      "{\"seconds\": %.6f, \"tuples\": %llu, \"held_bytes\": %llu, \"peak_bytes\": %llu, "
      "\"sizes\": %s}\n",
      seconds, static_cast<unsigned long long>(tuples),
      static_cast<unsigned long long>(grown(held)), static_cast<unsigned long long>(grown(peak)),
      quoted(sizes.at(0)).c_str());
  return 0;
}

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

int idle(int rules) {
  EGraph egraph;
  egraph.run_program(idle_program(rules), "idle");
  const Schedule call = Schedule::run(egraph.ruleset("all"));
  constexpr int kBatches = 201, kCalls = 100;
  std::vector<double> nanoseconds;
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto start = Clock::now();
    for (int i = 0; i < kCalls; ++i) {
      if (egraph.run(call).changed)
        throw std::runtime_error("egraph_bench: an idle call changed something");
    }
    nanoseconds.push_back(1e9 * seconds_since(start) / kCalls);
  }
  std::nth_element(nanoseconds.begin(), nanoseconds.begin() + kBatches / 2, nanoseconds.end());
  std::printf("idle_ns %.0f rules %zu\n", nanoseconds[kBatches / 2], egraph.rules());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc == 3 ? argv[1] : "";
  try {
    if (command == "run" || command == "proofs") return run(argv[2], command == "proofs");
    if (command == "idle") return idle(std::stoi(argv[2]));
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  std::cerr << "usage: egraph_bench run|proofs FILE.egg | egraph_bench idle RULES\n";
  return 2;
}
