#include "luminal/backends/cpu/schedule/slow_paths.h"

#include <fmt/format.h>

#include <set>

#include "luminal/backends/cpu/schedule/lane_pattern.h"

namespace luminal::backends::cpu {
namespace {

// How the lanes of a vector access memory if not contiguously; empty if contiguous.
std::string slow_access(const Access& access, const ScheduledStage& stage,
                        const std::vector<bool>& varies, bool loads) {
  for (const Access::Gathered& at : access.gathered) {
    // If the gathered index is uniform across lanes, they read one row contiguously.
    if (varies[at.value.index()]) return "at gathered indices";
  }
  const LanePattern pattern = lane_pattern(access.simplest(), stage.vector_loop, stage.lanes);
  switch (pattern.kind) {
    case LaneKind::Uniform:
      return {};
    case LaneKind::Affine:
      if (pattern.stride.is(1) || (loads && pattern.stride.is(2))) return {};
      return fmt::format("{} elements apart", pattern.stride.text());
    case LaneKind::General:
      return "at indices without a pattern";
  }
  return {};
}

}  // namespace

std::vector<std::string> slow_paths(const Schedule& schedule) {
  std::vector<std::string> lines;
  std::set<kernel::StageId>
      passed_over;  // stages that are reported as copies, or don't run as such
  if (schedule.tiling) {
    for (const TiledContraction& contraction : schedule.tiling->contractions) {
      auto copied = [&](const TiledFactor& factor, const char* side, const char* order) {
        passed_over.insert(factor.stage);
        if (factor.in_place) return;
        lines.push_back(fmt::format("stage s{} copies its {} factor into {} in every run",
                                    contraction.stage.value, side, order));
      };
      passed_over.insert(contraction.stage);
      copied(contraction.left, "left", "rows");
      if (!contraction.quantised && !contraction.made_of && !contraction.windows &&
          !contraction.same_panels) {
        copied(contraction.right, "right", "panels");
      }
      passed_over.insert(contraction.right.stage);
    }
  }
  // Copies that are amortised over many rows aren't reported.
  if (schedule.row_blocks) {
    for (const BlockedContraction& contraction : schedule.row_blocks->contractions) {
      passed_over.insert({contraction.stage, contraction.left, contraction.right});
    }
  }
  for (kernel::StageId s : schedule.stages.ids()) {
    if (passed_over.contains(s)) continue;
    const ScheduledStage& stage = schedule.stages[s];
    if (!stage.vector_loop.valid() || stage.lanes == 1) {
      // A stage without loops computes one value: vectors wouldn't help.
      if (!stage.loops.empty()) {
        lines.push_back(fmt::format("stage s{} runs one element at a time", s.value));
      }
      continue;
    }
    const std::vector<bool> varies = varying(stage, stage.vector_loop, schedule.vector_outer);
    for (size_t k = 0; k < stage.access.size(); ++k) {
      const auto* load = std::get_if<kernel::LoadInst>(&stage.source->body[k].what);
      if (load == nullptr) continue;
      const std::string how = slow_access(stage.access[k], stage, varies, true);
      if (!how.empty()) {
        lines.push_back(fmt::format("stage s{} reads p{} {}", s.value, load->param.value, how));
      }
    }
    const auto* output = std::get_if<kernel::OutputTarget>(&stage.source->target);
    if (output == nullptr) continue;
    const std::string how = slow_access(stage.target, stage, varies, false);
    if (!how.empty())
      lines.push_back(fmt::format("stage s{} writes p{} {}", s.value, output->param.value, how));
  }
  return lines;
}

}  // namespace luminal::backends::cpu
