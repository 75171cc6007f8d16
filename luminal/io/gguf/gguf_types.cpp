#include "luminal/io/gguf/gguf_types.h"

#include <algorithm>
#include <iterator>

namespace luminal::io {
namespace {

constexpr auto kNone = std::nullopt;
// Numbers that are missing belonged to types that were given up.
constexpr GgufType kTypes[] = {
    {0, "F32", 1, 4, DType::F32},    {1, "F16", 1, 2, DType::F16},
    {2, "Q4_0", 32, 18, kNone},      {3, "Q4_1", 32, 20, kNone},
    {6, "Q5_0", 32, 22, kNone},      {7, "Q5_1", 32, 24, kNone},
    {8, "Q8_0", 32, 34, kNone},      {9, "Q8_1", 32, 36, kNone},
    {10, "Q2_K", 256, 84, kNone},    {11, "Q3_K", 256, 110, kNone},
    {12, "Q4_K", 256, 144, kNone},   {13, "Q5_K", 256, 176, kNone},
    {14, "Q6_K", 256, 210, kNone},   {15, "Q8_K", 256, 292, kNone},
    {16, "IQ2_XXS", 256, 66, kNone}, {17, "IQ2_XS", 256, 74, kNone},
    {18, "IQ3_XXS", 256, 98, kNone}, {19, "IQ1_S", 256, 50, kNone},
    {20, "IQ4_NL", 32, 18, kNone},   {21, "IQ3_S", 256, 110, kNone},
    {22, "IQ2_S", 256, 82, kNone},   {23, "IQ4_XS", 256, 136, kNone},
    {24, "I8", 1, 1, DType::I8},     {25, "I16", 1, 2, DType::I16},
    {26, "I32", 1, 4, DType::I32},   {27, "I64", 1, 8, DType::I64},
    {28, "F64", 1, 8, DType::F64},   {29, "IQ1_M", 256, 56, kNone},
    {30, "BF16", 1, 2, DType::BF16}, {34, "TQ1_0", 256, 54, kNone},
    {35, "TQ2_0", 256, 66, kNone},   {39, "MXFP4", 32, 17, kNone},
};

}  // namespace

const GgufType* find_gguf_type(uint32_t number) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const GgufType& type) { return type.number == number; });
  return found == std::end(kTypes) ? nullptr : found;
}

}  // namespace luminal::io
