// libFuzzer target of chat templates: any text renders or gives a UserError, within its bounds.
#include <cstdint>
#include <string_view>

#include "luminal/base/errors.h"
#include "luminal/text/jinja/template_render.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace luminal;
  using tokens::TemplateDict;
  using tokens::TemplateList;
  using tokens::TemplateValue;
  const TemplateDict message = {{"role", TemplateValue::of("user")},
                                {"content", TemplateValue::of(" h\xC3\xA9 ")}};
  const TemplateDict context = {
      {"messages",
       TemplateValue::of(TemplateList{TemplateValue::of(message), TemplateValue::of(message)})},
      {"add_generation_prompt", TemplateValue::of(true)}};
  // Less than what is allowed otherwise, so that the fuzzer sees many templates.
  tokens::TemplateBudget budget;
  budget.steps = 20'000;
  budget.bytes = int64_t{1} << 22;
  budget.output = size_t{1} << 20;
  try {
    const tokens::TemplateBody body =
        tokens::parse_template({reinterpret_cast<const char*>(data), size});
    tokens::render_template(body, context, 0, budget);
  } catch (const UserError&) {
  }
  return 0;
}
