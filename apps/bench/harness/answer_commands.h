// A bench driven by a script: reads commands and answers each with one line.
#pragma once

#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>

namespace luminal::bench {

// The answer to a command, from the state of the last "prepare" and the command's arguments.
template <typename Prepared>
using Answers = std::map<std::string, std::function<std::string(Prepared&, std::istream&)>>;

// Runs until the input ends. "prepare" creates a new state; no other command is valid before it.
// Returns the exit code: 2 after an unknown command, 1 after an error.
template <typename Prepared>
int answer_commands(const std::string& program, const Answers<Prepared>& answers) {
  try {
    std::unique_ptr<Prepared> prepared;
    std::string command;
    while (std::cin >> command) {
      if (command == "prepare") prepared = std::make_unique<Prepared>();
      const auto answer = answers.find(command);
      if (answer == answers.end() || prepared == nullptr) {
        std::cerr << program << ": unknown command '" << command << "'\n";
        return 2;
      }
      std::cout << answer->second(*prepared, std::cin) << std::endl;
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}

}  // namespace luminal::bench
