// digest: a 256-bit hash as 64 hex digits, the same in every run and on every machine.
#pragma once

#include <string>
#include <string_view>

namespace luminal::base {

// Accidental collisions have a probability of about 2⁻¹²⁸. Not cryptographic: against an attacker
// the bytes must be compared too.
std::string digest(std::string_view bytes);

}  // namespace luminal::base
