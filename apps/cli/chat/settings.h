// /set: the sampling parameters and the maximum length of answers.
#pragma once

#include <string>
#include <string_view>

#include "apps/cli/options/model_options.h"

namespace luminal::cli {

// Parses "top-k 40" into the arguments. UserError that lists the valid names or values for an
// invalid one; nothing is changed then.
void change_setting(ModelArguments& arguments, const llm::Model& model, std::string_view text);

// One line per setting, with the values in effect for this model.
std::string settings_text(const ModelArguments& arguments, const llm::Model& model);

}  // namespace luminal::cli
