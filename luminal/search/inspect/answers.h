// Questions to an inspection: how an op or a tensor was compiled, what a function of the e-graph
// holds about it, and why a rule didn't match.
#pragma once

#include <string>
#include <vector>

#include "luminal/search/inspect/finding.h"
#include "luminal/search/inspect/inspection.h"

namespace luminal::search {

// "Add:CpuKernel" or "Add": for each such node its class, terms and kernels; if it isn't compiled
// as asked for (CpuKernel, HostStep), the reason. UserError for an unknown op or way to compile it.
std::vector<Finding> inspect_op(Inspection& inspection, const std::string& question);

// Type, class, terms, users and kernels of a node.
Finding inspect_tensor(Inspection& inspection, NodeId node);

// The rows of a function, constructor or relation that mention the tensor's class, with the rule
// that made each. UserError where there is no such function.
std::vector<Finding> trace_function(Inspection& inspection, const std::string& function,
                                    NodeId node);

// The classes without a known type, with the first term and rule responsible.
std::vector<Finding> missing_dtypes(Inspection& inspection);

// Why a rule doesn't match at a tensor.
Finding explain_why_not(Inspection& inspection, const std::string& rule, NodeId node);

}  // namespace luminal::search
