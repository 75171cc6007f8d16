// Questions to an inspection: what became of an op or a tensor, what a function of the e-graph says
// about it, and why a rule didn't match.
#pragma once

#include <string>
#include <vector>

#include "luminal/search/inspect/finding.h"
#include "luminal/search/inspect/inspection.h"

namespace luminal::search {

// "Add:CpuKernel" or "Add": for each such node its class, terms and kernels; where it isn't what
// was asked for (CpuKernel, HostStep), why. UserError for words that mean nothing.
std::vector<Finding> inspect_op(Inspection& inspection, const std::string& question);

// Type, class, terms, users and kernels of a node.
Finding inspect_tensor(Inspection& inspection, NodeId node);

// The rows of a function, constructor or relation that mention the tensor's class, with the rule
// that made each. UserError where there is no such function.
std::vector<Finding> trace_function(Inspection& inspection, const std::string& function,
                                    NodeId node);

// The classes whose type nothing says, with the first term and rule responsible.
std::vector<Finding> missing_dtypes(Inspection& inspection);

// Why a rule doesn't match at a tensor.
Finding explain_why_not(Inspection& inspection, const std::string& rule, NodeId node);

}  // namespace luminal::search
