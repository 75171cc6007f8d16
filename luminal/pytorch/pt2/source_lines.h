// The user's line and module of a call, from the texts that PyTorch keeps of where it was recorded.
#pragma once

#include <string>
#include <string_view>

namespace luminal::pytorch {

// Of a stack trace: "model.py:12: y = x + 1", the innermost line outside of PyTorch; empty if there
// is none.
std::string user_line(std::string_view trace);

// Of "key,path,class;key,path,class", outermost first: the path of the last; empty if there is
// none.
std::string module_path(std::string_view stack);

}  // namespace luminal::pytorch
