#include "luminal/base/os/process.h"

#include "luminal/base/errors.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

extern char** environ;

namespace luminal::base {

std::optional<int> run_program(const std::string& program,
                               const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  argv.push_back(const_cast<char*>(program.c_str()));
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, program.c_str(), nullptr, nullptr, argv.data(), environ);
  if (error == ENOENT) return std::nullopt;
  if (error != 0) {
    throw DeviceError("can't run '" + program + "': " + std::generic_category().message(error));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      throw DeviceError("can't wait for '" + program +
                        "': " + std::generic_category().message(errno));
    }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int process_id() { return static_cast<int>(::getpid()); }

}  // namespace luminal::base
