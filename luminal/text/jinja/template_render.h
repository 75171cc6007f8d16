// Renders a parsed chat template.
#pragma once

#include <cstdint>

#include "luminal/text/jinja/marked_text.h"
#include "luminal/text/jinja/template_ast.h"
#include "luminal/text/jinja/template_budget.h"

namespace luminal::tokens {

// The text a template makes of its variables, which are the members of `context`. `now` is what
// strftime_now tells, in seconds since 1970, UTC. The result is marked where its text comes from
// marked variables. UserError, with the line, when the template
// fails, asks for an error itself, or exceeds its budget.
MarkedText render_template(const TemplateBody& body, const TemplateDict& context, int64_t now,
                           TemplateBudget budget = {});

}  // namespace luminal::tokens
