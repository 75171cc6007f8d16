// Running the compiled actions of a rule, a command or a merge.
#pragma once

#include "luminal/egraph/database/database.h"
#include "luminal/egraph/database/rule.h"

#include <span>

namespace luminal::egraph {

// `registers` holds the program's inputs and has room for all of its registers. Changes are made
// on account of `database.cause`. UserError on panic, a failed primitive or a failed lookup.
// A log of proofs has changes on account of `origin`, or of a command where there is none.
void execute(Database& database, const Program& program, std::span<Value> registers,
             ProofOrigin* origin = nullptr);

// Runs it for each of a batch of matches. Where it only adds terms and unions, all of them take a
// step before any takes the next: the same is added, though ids are given out in another order.
void execute_batch(Database& database, const Program& program, RegisterBatch batch);

}  // namespace luminal::egraph
