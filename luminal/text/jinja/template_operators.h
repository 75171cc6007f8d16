// The operators of chat templates, with Python semantics.
#pragma once

#include <optional>
#include <string_view>

#include "luminal/text/jinja/template_budget.h"
#include "luminal/text/jinja/template_value.h"

namespace luminal::tokens {

// a op b, for + - * / // % ** ~ == != < <= > >= in and not in.
TemplateValue apply_operator(std::string_view op, const TemplateValue& a, const TemplateValue& b,
                             TemplateBudget& budget);
TemplateValue negative(const TemplateValue& value, const TemplateBudget& budget);

// value[key].
TemplateValue item_of(const TemplateValue& value, const TemplateValue& key,
                      const TemplateBudget& budget);
// value[first:last:step] of a list or a string.
TemplateValue slice_of(const TemplateValue& value, std::optional<int64_t> first,
                       std::optional<int64_t> last, std::optional<int64_t> step,
                       TemplateBudget& budget);

}  // namespace luminal::tokens
