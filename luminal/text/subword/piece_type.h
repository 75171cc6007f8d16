// Pieces: the tokens of SentencePiece models, with their scores and types.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace luminal::tokens {

// Numbered as in SentencePiece.
enum class PieceType : uint8_t {
  Normal = 1,
  Unknown = 2,
  Control = 3,
  UserDefined = 4,
  Unused = 5,
  Byte = 6
};

struct Pieces {
  std::vector<float> scores;  // by id
  std::vector<PieceType> types;
};

}  // namespace luminal::tokens
