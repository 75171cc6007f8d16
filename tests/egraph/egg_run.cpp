// egg_run FILE: runs a program of the engine's language and prints its outputs, for comparison with
// egglog; `--sizes` ends with the sizes of all tables, `--report` with the reports of its runs.
#include "luminal/egraph/egraph.h"

#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: egg_run FILE.egg [--sizes] [--report]\n";
    return 2;
  }
  bool sizes = false, report = false;
  for (int i = 2; i < argc; ++i) {
    sizes |= std::string_view(argv[i]) == "--sizes";
    report |= std::string_view(argv[i]) == "--report";
  }
  std::ifstream file(argv[1]);
  if (!file) {
    std::cerr << "egg_run: can't read " << argv[1] << "\n";
    return 2;
  }
  std::stringstream text;
  text << file.rdbuf();
  try {
    luminal::egraph::EGraph egraph;
    const auto result = egraph.run_program(text.str(), argv[1]);
    for (const std::string& output : result.outputs) std::cout << output << "\n";
    if (sizes) std::cout << egraph.run_program("(print-size)", "sizes").outputs[0] << "\n";
    if (report) {
      for (const auto& run : result.runs) std::cout << run.text();
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
