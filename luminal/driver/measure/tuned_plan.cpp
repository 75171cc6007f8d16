#include "luminal/driver/measure/tuned_plan.h"

#include "luminal/base/byte_stream.h"

namespace luminal {

std::string write_tuned_plan(const TunedPlan& plan) {
  base::ByteWriter out;
  out.text("luminal tuned plan 1");
  out.real(plan.seconds);
  out.integer(plan.candidates);
  out.integer(plan.trail.proposals);
  out.integer(plan.trail.tuned);
  out.integer(plan.trail.comparisons);
  out.text(plan.trail.champion);
  out.text(plan.entry);
  return out.bytes();
}

TunedPlan read_tuned_plan(std::string_view bytes) {
  base::ByteReader in(bytes);
  if (in.text() != "luminal tuned plan 1") throw base::ByteError("it is no tuned plan");
  TunedPlan plan;
  plan.seconds = in.real();
  plan.candidates = in.small();
  plan.trail.proposals = in.small();
  plan.trail.tuned = in.small();
  plan.trail.comparisons = in.small();
  plan.trail.champion = in.text();
  plan.entry = in.text();
  in.finish();
  return plan;
}

}  // namespace luminal
