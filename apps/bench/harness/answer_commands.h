// A bench that a script talks to: commands come in, each is answered by a line.
#pragma once

#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>

namespace luminal::bench {

// What a command is answered with, given what the last "prepare" made and where its arguments are.
template <typename Prepared>
using Answers = std::map<std::string, std::function<std::string(Prepared&, std::istream&)>>;

// Until the input ends. "prepare" starts anew; nothing else is known before it. Gives what main
// returns: 2 after a command that isn't known, 1 after an error.
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
