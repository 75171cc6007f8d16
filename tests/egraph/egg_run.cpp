// egg_run FILE…: runs programs of the engine's language, each in a fresh e-graph, and prints what
// they print, for comparison with egglog. With --tagged a script can tell apart what it reads:
//   program FILE
//   > the first line of an output, or of a term with its cost before it: `> $7 (F (A))`
//   | a further line of the output
//   ! the message of the error that ended the program
//   # a digest of outputs, reports and all rows, with --digest
#include "luminal/egraph/egraph.h"

#include "tests/egraph/altered_proofs.h"

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using luminal::egraph::EGraph;
using luminal::egraph::ProgramResult;

struct Options {
  bool sizes = false, report = false, dump = false, tagged = false, digest = false;
  bool proofs = false, explain_all = false;
  int repeat = 1;
  std::vector<std::string> questions;
  std::vector<std::string> files;
};

constexpr const char* kUsage =
    "usage: egg_run FILE.egg… [--sizes] [--report] [--dump] [--tagged] [--digest] [--repeat N]\n"
    "                         [--proofs] [--explain 'TERM = TERM']… [--explain-all]\n"
    "  --sizes     end with the sizes of all tables\n"
    "  --report    end with the reports of the runs\n"
    "  --dump      end with all rows\n"
    "  --tagged    outputs in a form for scripts, with the costs of extracted terms\n"
    "  --digest    with --tagged: a number that any difference in rows, outputs or reports "
    "changes\n"
    "  --repeat N  run each program N times; it is an error if two runs differ in any bit\n"
    "  --proofs    record proofs while it runs\n"
    "  --explain Q end with an explanation, checked, and altered in every way: it is an error if "
    "the\n"
    "              right one is rejected or an altered one accepted\n"
    "  --explain-all  the same for ids that were made equal\n";

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("egg_run: can't read " + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// FNV-1a: the same on every machine.
void mix(uint64_t& digest, std::string_view text) {
  for (const char c : text) digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  digest = (digest ^ 0xffU) * 0x100000001b3U;
}

uint64_t digest_of(const ProgramResult& result, const EGraph& egraph) {
  uint64_t digest = 0xcbf29ce484222325U;
  for (const std::string& output : result.outputs) mix(digest, output);
  for (const auto& run : result.runs) mix(digest, run.text(/*with_times=*/false));
  mix(digest, egraph.dump());
  return digest;
}

void print_tagged(std::string_view first, std::string_view further, std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  std::string out(first);
  for (const char c : text) {
    out += c;
    if (c == '\n') out += further;
  }
  std::cout << out << "\n";
}

void print_tagged(const ProgramResult& result) {
  size_t next_cost = 0;
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    std::string first = "> ";
    if (next_cost < result.costs.size() && result.costs[next_cost].output == i) {
      first += "$" + std::to_string(result.costs[next_cost++].cost) + " ";
    }
    print_tagged(first, "| ", result.outputs[i]);
  }
}

void print(const luminal::egraph::MutationCounts& counts, const std::string& path) {
  if (!counts.failure.empty()) throw std::runtime_error(path + ": " + counts.failure);
  std::cout << "explained " << counts.explanations << " steps " << counts.steps << " refused "
            << counts.refused << " altered " << counts.altered << " rejected " << counts.rejected
            << " also right " << counts.also_right << "\n";
}

void explain(EGraph& egraph, const std::string& question, const std::string& path) {
  luminal::egraph::MutationCounts counts;
  luminal::egraph::alter(egraph, egraph.explain(question), counts);
  print(counts, path);
}

// Ids with the roots of their classes, for as many ids as there is time for.
void explain_all(EGraph& egraph, const std::string& path) {
  constexpr size_t kMostPairs = 40;
  luminal::egraph::MutationCounts counts;
  std::vector<luminal::egraph::Value> displaced;
  for (uint32_t id = 0; id < egraph.ids(); ++id) {
    const luminal::egraph::Value value{id};
    if (egraph.find(value) != value) displaced.push_back(value);
  }
  const size_t step = displaced.size() / kMostPairs + 1;
  for (size_t i = 0; i < displaced.size(); i += step) {
    luminal::egraph::explain_and_alter(egraph, displaced[i], egraph.find(displaced[i]), counts);
  }
  print(counts, path);
}

void run_once(const std::string& text, const std::string& path, const Options& options, bool print,
              uint64_t& digest) {
  EGraph egraph;
  if (options.proofs || options.explain_all || !options.questions.empty()) egraph.record_proofs();
  const ProgramResult result = egraph.run_program(text, path);
  if (options.digest || options.repeat > 1) digest = digest_of(result, egraph);
  if (!print) return;
  if (options.tagged) {
    print_tagged(result);
  } else {
    for (const std::string& output : result.outputs) std::cout << output << "\n";
  }
  if (options.digest) std::printf("# %016llx\n", static_cast<unsigned long long>(digest));
  if (options.sizes) std::cout << egraph.run_program("(print-size)", "sizes").outputs[0] << "\n";
  if (options.report) {
    for (const auto& run : result.runs) std::cout << run.text();
  }
  if (options.dump) std::cout << egraph.dump();
  for (const std::string& question : options.questions) explain(egraph, question, path);
  if (options.explain_all) explain_all(egraph, path);
}

// Whether the program ran to its end, every time alike.
bool run_file(const std::string& path, const Options& options) {
  if (options.tagged) std::cout << "program " << path << "\n";
  try {
    const std::string text = read_file(path);
    uint64_t digest = 0;
    run_once(text, path, options, /*print=*/true, digest);
    for (int i = 1; i < options.repeat; ++i) {
      uint64_t again = 0;
      run_once(text, path, options, /*print=*/false, again);
      if (again != digest) throw std::runtime_error(path + ": two runs differ");
    }
  } catch (const std::exception& error) {
    if (options.tagged) {
      print_tagged("! ", "| ", error.what());
    } else {
      std::cerr << error.what() << "\n";
    }
    return false;
  }
  return true;
}

bool parse_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--sizes") {
      options.sizes = true;
    } else if (word == "--report") {
      options.report = true;
    } else if (word == "--dump") {
      options.dump = true;
    } else if (word == "--tagged") {
      options.tagged = true;
    } else if (word == "--digest") {
      options.digest = true;
    } else if (word == "--proofs") {
      options.proofs = true;
    } else if (word == "--explain" && i + 1 < argc) {
      options.questions.emplace_back(argv[++i]);
    } else if (word == "--explain-all") {
      options.explain_all = true;
    } else if (word == "--repeat" && i + 1 < argc) {
      const std::string_view count = argv[++i];
      if (std::from_chars(count.begin(), count.end(), options.repeat).ec != std::errc{})
        return false;
    } else if (word.starts_with("--")) {
      return false;
    } else {
      options.files.emplace_back(word);
    }
  }
  return !options.files.empty();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse_options(argc, argv, options)) {
    std::cerr << kUsage;
    return 2;
  }
  bool all = true;
  for (const std::string& path : options.files) all &= run_file(path, options);
  return all ? 0 : 1;
}
