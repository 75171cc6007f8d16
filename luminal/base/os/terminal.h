// The terminal that the program runs in, if it does.
#pragma once

#include <cstdint>

namespace luminal::base {

// Whether standard error goes to a terminal, where a line can be written over.
bool error_is_terminal();
// Whether standard input comes from one: someone types.
bool input_is_terminal();
// Whether another program, or a file, is what standard input reads: a pipe, a file or a socket, and
// neither a terminal nor a device as /dev/null.
bool input_is_piped();
// Whether standard output goes to one: someone reads.
bool output_is_terminal();

// Columns of the terminal that standard output or standard error goes to; 0 where neither does or
// it doesn't say.
int terminal_columns();

// One byte of standard input, without a buffer in between: what a terminal sends as it is typed.
struct InputByte {
  enum class State : uint8_t {
    Read,
    End,
    Interrupted,  // by a signal that a CatchInterrupt took
  };
  State state = State::End;
  char byte = 0;
};
InputByte read_input_byte();

// While one lives, Ctrl-C (SIGINT) is remembered and ends a wait for input instead of the program.
// One at a time.
class CatchInterrupt {
 public:
  CatchInterrupt();
  ~CatchInterrupt();
  CatchInterrupt(const CatchInterrupt&) = delete;
  CatchInterrupt& operator=(const CatchInterrupt&) = delete;

  // Whether it came since it was last forgotten.
  bool interrupted() const;
  void forget();

 private:
  void* former_;  // what was done about it before
};

}  // namespace luminal::base
