#include "luminal/driver/measure/tuned_plan.h"

#include "luminal/base/byte_stream.h"
#include "luminal/base/files/seal.h"

namespace luminal {
namespace {

constexpr std::string_view kTunedPlanMagic = "luminal tuned plan 2";

std::string seal_of(std::string_view content, const std::string& key, const base::Secret& secret) {
  base::ByteWriter sealed;
  sealed.text(key);
  sealed.text(content);
  return base::seal(secret, sealed.bytes());
}

}  // namespace

std::string write_tuned_plan(const TunedPlan& plan, const std::string& key,
                             const std::optional<base::Secret>& secret) {
  base::ByteWriter content;
  content.real(plan.seconds);
  content.integer(plan.candidates);
  content.integer(plan.trail.proposals);
  content.integer(plan.trail.tuned);
  content.integer(plan.trail.comparisons);
  content.text(plan.trail.champion);
  content.text(plan.entry);
  base::ByteWriter out;
  out.text(kTunedPlanMagic);
  out.text(content.bytes());
  out.text(secret ? seal_of(content.bytes(), key, *secret) : "");
  return out.bytes();
}

TunedPlan read_tuned_plan(std::string_view bytes, const std::string& key,
                          const std::optional<base::Secret>& secret) {
  base::ByteReader in(bytes);
  if (in.text() != kTunedPlanMagic) throw base::ByteError("it isn't a tuned plan of this format");
  const std::string_view content = in.text();
  const std::string_view sealed = in.text();
  in.finish();
  base::ByteReader fields(content);
  TunedPlan plan;
  plan.seconds = fields.real();
  plan.candidates = fields.small();
  plan.trail.proposals = fields.small();
  plan.trail.tuned = fields.small();
  plan.trail.comparisons = fields.small();
  plan.trail.champion = fields.text();
  plan.entry = fields.text();
  fields.finish();
  plan.is_own = secret && sealed == seal_of(content, key, *secret);
  return plan;
}

}  // namespace luminal
