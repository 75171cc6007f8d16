// libFuzzer target of the engine's language: any text is a program or a UserError, the same one
// twice.
//
// Every text is parsed, type checked and run, without files and within limits so small that most
// time goes to parsing, checking and compiling rules.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "luminal/base/errors.h"
#include "luminal/egraph/egraph.h"
#include "luminal/egraph/language/parser.h"

namespace {

using luminal::UserError;
using luminal::egraph::EGraph;
using luminal::egraph::ProgramOptions;

void require(bool holds) {
  if (!holds) std::abort();
}

// What print-stats prints, which holds times; other outputs are the same every time.
bool is_statistics(std::string_view output) { return output.starts_with("Overall statistics"); }

// All that the program left behind: outputs, rows, and the error that ended it.
std::string run(std::string_view text) {
  // No limit on seconds: where it stops a run differs from time to time.
  const ProgramOptions options{.limits = {.nodes = 500, .matches_per_rule = 500, .iterations = 3},
                               .files = {}};
  EGraph egraph;
  std::string out;
  try {
    for (const std::string& output : egraph.run_program(text, "fuzz", options).outputs) {
      if (!is_statistics(output)) out += output + "\n";
    }
  } catch (const UserError& error) {
    out += error.what();
    require(out.find("fuzz:") != std::string::npos);  // it names its place
  }
  return out + egraph.dump();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    luminal::egraph::parse(text, "fuzz");
  } catch (const UserError&) {
    return 0;  // nothing more would happen in a run
  }
  require(run(text) == run(text));
  return 0;
}
