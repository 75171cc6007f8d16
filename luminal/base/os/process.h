// Running another program.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace luminal::base {

// Runs a program found on the PATH with these arguments, without a shell, and waits for it: its
// exit code (128 + the signal's number when it was killed), or nothing when there is no such
// program. DeviceError when it can't start for another reason.
std::optional<int> run_program(const std::string& program,
                               const std::vector<std::string>& arguments);

// The id of this process, for names of temporary files.
int process_id();

}  // namespace luminal::base
