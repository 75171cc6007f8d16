#include "luminal/base/os/terminal.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace luminal::base {
namespace {

volatile sig_atomic_t interrupt_came = 0;

void on_interrupt(int) { interrupt_came = 1; }

int columns_of(int file) {
  winsize size = {};
  return ioctl(file, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

bool error_is_terminal() { return isatty(STDERR_FILENO) == 1; }
bool input_is_terminal() { return isatty(STDIN_FILENO) == 1; }
bool input_is_piped() {
  struct stat status = {};
  if (::fstat(STDIN_FILENO, &status) != 0) return false;
  return S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode) || S_ISSOCK(status.st_mode);
}
bool output_is_terminal() { return isatty(STDOUT_FILENO) == 1; }

int terminal_columns() {
  const int columns = columns_of(STDOUT_FILENO);
  return columns > 0 ? columns : columns_of(STDERR_FILENO);
}

InputByte read_input_byte() {
  while (true) {
    InputByte result;
    const ssize_t count = ::read(STDIN_FILENO, &result.byte, 1);
    if (count == 1) result.state = InputByte::State::Read;
    if (count >= 0) return result;
    if (errno != EINTR) return result;
    if (interrupt_came != 0) return {.state = InputByte::State::Interrupted};
  }
}

CatchInterrupt::CatchInterrupt() : former_(new struct sigaction) {
  interrupt_came = 0;
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);  // and no SA_RESTART: a blocked read returns
  sigaction(SIGINT, &action, static_cast<struct sigaction*>(former_));
}

CatchInterrupt::~CatchInterrupt() {
  auto* former = static_cast<struct sigaction*>(former_);
  sigaction(SIGINT, former, nullptr);
  delete former;
}

bool CatchInterrupt::interrupted() const { return interrupt_came != 0; }
void CatchInterrupt::forget() { interrupt_came = 0; }

}  // namespace luminal::base
