// Renders a parsed chat template.
#pragma once

#include <cstdint>
#include <string>

#include "luminal/text/template_ast.h"
#include "luminal/text/template_budget.h"

namespace luminal::tokens {

// The text a template makes of its variables, which are the members of `context`. `now` is what
// strftime_now tells, in seconds since 1970, UTC. UserError, with the line, when the template
// fails, asks for an error itself, or exceeds its budget.
std::string render_template(const TemplateBody& body, const TemplateDict& context, int64_t now,
                            TemplateBudget budget = {});

}  // namespace luminal::tokens
