// The message for an invalid command line: what is wrong, what may have been meant, and which
// --help to read.
#pragma once

#include <string>

namespace CLI {
class App;
class Error;
}  // namespace CLI

namespace luminal::cli {

std::string usage_message(const CLI::App* app, const CLI::Error& error);

}  // namespace luminal::cli
