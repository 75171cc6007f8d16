// InspectOptions: what a compile shows of itself on the way, and where it stops.
#pragma once

#include <iosfwd>
#include <string>

namespace luminal {

struct InspectOptions {
  std::string print_after = {};  // a stage whose full text goes to `out`; "all" for each
  std::string stop_after = {};   // the last stage to run: compile() then throws CompileStopped
  std::ostream* out = nullptr;   // standard output if null
  bool find_rivals = false;      // KernelReport::rivals; takes about as long as the search
  // CompileReport::fusion also has the patterns that no policy decides by themselves.
  bool list_patterns = false;
};

}  // namespace luminal
