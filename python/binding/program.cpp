// The command line, as `python -m luminal` runs it.
#include "apps/cli/program.h"

#include "binding/binding.h"

namespace luminal::python {

void add_program(nb::module_& module) {
  module.def(
      "run_program",
      [](std::vector<std::string> arguments) {
        std::vector<char*> words;
        for (std::string& word : arguments) words.push_back(word.data());
        words.push_back(nullptr);
        nb::gil_scoped_release released;
        return cli::run_program(static_cast<int>(arguments.size()), words.data());
      },
      nb::arg("arguments"), "Runs the program `luminal`; gives its exit code.");
}

}  // namespace luminal::python
