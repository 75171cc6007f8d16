#include "apps/cli/program.h"

int main(int argc, char** argv) { return luminal::cli::run_program(argc, argv); }
