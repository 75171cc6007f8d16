// Renders a parsed chat template.
#pragma once

#include <cstdint>

#include "luminal/text/jinja/marked_text.h"
#include "luminal/text/jinja/template_ast.h"
#include "luminal/text/jinja/template_budget.h"

namespace luminal::tokens {

// Renders a template with the members of `context` as its variables. `now` is the result of
// strftime_now, in seconds since 1970, UTC. Text that comes from marked variables is marked in the
// result. UserError, with the line, if the template fails, raises an error, or exceeds its budget.
MarkedText render_template(const TemplateBody& body, const TemplateDict& context, int64_t now,
                           TemplateBudget budget = {});

}  // namespace luminal::tokens
