#include "luminal/driver/fusion/fusion_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace luminal {
namespace {

// A plan's name in a comparison: "fused, 8 tokens, 2 kernels". Where both are the same plan, both
// have one name.
struct RivalName {
  std::string_view kind;
  int64_t tokens = 0;
  int kernels = 0;

  std::string text() const {
    return fmt::format("{}, {} tokens, {} kernels", kind, tokens, kernels);
  }
};

constexpr std::string_view kFused = "fused";
constexpr std::string_view kUnfused = "unfused";
constexpr std::string_view kSame = "the same plan";

// Only names that text() writes are read.
std::optional<RivalName> read_name(std::string_view text) {
  RivalName name;
  for (std::string_view kind : {kFused, kUnfused, kSame}) {
    if (text.starts_with(fmt::format("{}, ", kind))) name.kind = kind;
  }
  if (name.kind.empty()) return std::nullopt;
  const char* const end = text.data() + text.size();
  const auto tokens = std::from_chars(text.data() + name.kind.size() + 2, end, name.tokens);
  constexpr std::string_view kBetween = " tokens, ";
  if (tokens.ec != std::errc() || end - tokens.ptr < std::ssize(kBetween)) return std::nullopt;
  const auto kernels = std::from_chars(tokens.ptr + kBetween.size(), end, name.kernels);
  if (kernels.ec != std::errc() || name.text() != text) return std::nullopt;
  return name;
}

}  // namespace

records::PlanKey fusion_question(const FusionConditions& conditions, FusionPattern pattern,
                                 const FusionShape& shape) {
  return {.question = fmt::format("fusion of {}, {} to {}, {}; {}", name(pattern), shape.hidden,
                                  shape.intermediate, name(shape.dtype), conditions.options),
          .device = conditions.device,
          .compiler = conditions.compiler};
}

records::Comparison fusion_comparison(int64_t tokens, const FusionAnswer& answer) {
  const bool same = answer.rounds == 0;
  const RivalName unfused{same ? kSame : kUnfused, tokens, answer.unfused_kernels};
  const RivalName fused{same ? kSame : kFused, tokens, answer.fused_kernels};
  return {.champion = unfused.text(),
          .challenger = fused.text(),
          .ratio = answer.ratio,
          .low = answer.low,
          .high = answer.high,
          // Nothing is timed of plans that are the same, and that counts as one round.
          .rounds = std::max(answer.rounds, 1)};
}

std::optional<std::pair<int64_t, FusionAnswer>> read_fusion_comparison(
    const records::Comparison& comparison) {
  const auto unfused = read_name(comparison.champion);
  const auto fused = read_name(comparison.challenger);
  if (!unfused || !fused || unfused->tokens != fused->tokens || fused->tokens < 1) return {};
  if (unfused->kernels < 1 || fused->kernels < 1) return {};
  const bool same = comparison.champion == comparison.challenger;
  if (same ? fused->kind != kSame : unfused->kind != kUnfused || fused->kind != kFused) return {};
  FusionAnswer answer{.ratio = comparison.ratio,
                      .low = comparison.low,
                      .high = comparison.high,
                      .rounds = same ? 0 : comparison.rounds,
                      .fused_kernels = fused->kernels,
                      .unfused_kernels = unfused->kernels,
                      .source = FusionSource::Records};
  answer.fuse = is_fusing_better(answer);
  return std::pair(fused->tokens, std::move(answer));
}

FusionRecords::FusionRecords(const CompileOptions& options)
    : conditions_(fusion_conditions(options.backend, options.plan.numerics)),
      store_(options.storage.records, {conditions_.device, conditions_.description},
             {.keep_busy = options.search.keep_busy_times}) {}

std::optional<FusionAnswer> FusionRecords::find(FusionPattern pattern, const FusionShape& shape) {
  std::vector<records::Comparison> kept =
      store_.comparisons(fusion_question(conditions_, pattern, shape));
  // Plans of other kernels, by other peaks of the machine, have other names: the better measured
  // ones count, and are added last.
  std::ranges::sort(kept, [](const records::Comparison& a, const records::Comparison& b) {
    return supersedes(b, a);
  });
  FusionProfile known(conditions_);
  for (const records::Comparison& comparison : kept) {
    const auto read = read_fusion_comparison(comparison);
    if (!read) continue;
    FusionShape of = shape;
    of.tokens = read->first;
    known.add(pattern, of, read->second);
  }
  std::optional<FusionAnswer> answer = known.find(pattern, shape);
  if (answer && answer->source == FusionSource::Profile) answer->source = FusionSource::Records;
  return answer;
}

void FusionRecords::put(FusionPattern pattern, const FusionShape& shape,
                        const FusionAnswer& answer) {
  store_.put(fusion_question(conditions_, pattern, shape), fusion_comparison(shape.tokens, answer));
}

}  // namespace luminal
