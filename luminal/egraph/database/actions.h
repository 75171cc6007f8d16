// Running the compiled actions of a rule, a command or a merge.
#pragma once

#include "luminal/egraph/database/database.h"
#include "luminal/egraph/database/rule.h"

#include <span>

namespace luminal::egraph {

// `registers` holds the program's inputs and has room for all of its registers. Changes are
// attributed to `database.cause`, and in the proof log to `origin`, or to a command if that is
// null. UserError on panic, a failed primitive or a failed lookup.
void execute(Database& database, const Program& program, std::span<Value> registers,
             ProofOrigin* origin = nullptr);

// Runs the program for each match of a batch. A program that only adds terms and unions is executed
// in lockstep, instruction by instruction: it adds the same, but ids are numbered in another order.
void execute_batch(Database& database, const Program& program, RegisterBatch batch);

}  // namespace luminal::egraph
