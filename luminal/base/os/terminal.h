// The terminal that the program runs in, if there is one.
#pragma once

#include <cstdint>

namespace luminal::base {

// Whether standard error is a terminal, where a line can be overwritten.
bool error_is_terminal();
// Whether standard input is a terminal: someone types.
bool input_is_terminal();
// Whether standard input is a pipe, a file or a socket, as opposed to a terminal or a device such
// as /dev/null.
bool input_is_piped();
// Whether standard output is a terminal: someone reads.
bool output_is_terminal();

// Columns of the terminal that standard output, or else standard error, goes to; 0 if unknown.
int terminal_columns();

// One byte of standard input, unbuffered: what a terminal sends as it is typed.
struct InputByte {
  enum class State : uint8_t {
    Read,
    End,
    Interrupted,  // by a signal that a CatchInterrupt caught
  };
  State state = State::End;
  char byte = 0;
};
InputByte read_input_byte();

// While one exists, Ctrl-C (SIGINT) sets a flag and ends a wait for input instead of ending the
// program. At most one may exist.
class CatchInterrupt {
 public:
  CatchInterrupt();
  ~CatchInterrupt();
  CatchInterrupt(const CatchInterrupt&) = delete;
  CatchInterrupt& operator=(const CatchInterrupt&) = delete;

  // Whether SIGINT came since construction or the last forget().
  bool interrupted() const;
  void forget();

 private:
  void* former_;  // the previous signal handler
};

}  // namespace luminal::base
