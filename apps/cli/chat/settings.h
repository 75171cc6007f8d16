// What /set shows and changes: how answers are sampled, and how long they may be.
#pragma once

#include <string>
#include <string_view>

#include "apps/cli/options/model_options.h"

namespace luminal::cli {

// "top-k 40" into the arguments. UserError that says what there is for a name or value that can't
// be; nothing is changed then.
void change_setting(ModelArguments& arguments, const llm::Model& model, std::string_view text);

// A line per setting, as answers of this model are made.
std::string settings_text(const ModelArguments& arguments, const llm::Model& model);

}  // namespace luminal::cli
