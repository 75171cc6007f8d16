#include "luminal/backends/cpu/schedule/schedule_text.h"

#include <fmt/format.h>

namespace luminal::backends::cpu {
namespace {

const char* name_of(Multiply multiply) {
  switch (multiply) {
    case Multiply::F32:
      return "f32 vectors";
    case Multiply::Bf16Dot:
      return "bf16 dot products";
    case Multiply::Bf16Tiles:
      return "bf16 tiles";
    case Multiply::I8Dot:
      return "int8 dot products";
    case Multiply::I8Tiles:
      return "int8 tiles";
  }
  return "";
}

const char* name_of(RowPlace place) {
  switch (place) {
    case RowPlace::Param:
      return "in place";
    case RowPlace::Local:
      return "in a local buffer";
    case RowPlace::Scratch:
      return "copied";
  }
  return "";
}

std::string loops_text(const std::vector<kernel::LoopId>& loops) {
  std::string out;
  for (kernel::LoopId loop : loops) out += fmt::format(" i{}", loop.value);
  return out.empty() ? " none" : out;
}

std::string factor_text(const char* name, const TiledFactor& factor) {
  if (!factor.in_place) return fmt::format("    {} copied to scratch\n", name);
  const std::string widened =
      factor.narrow == DType::F32
          ? ""
          : fmt::format(", {} widened on the way", luminal::name(factor.narrow));
  return fmt::format("    {} in place: p{}[{}], step {}{}\n", name, factor.param.value,
                     factor.address.text(), factor.step.text(), widened);
}

std::string quantised_text(const char* name, const TiledQuantised& quantised) {
  std::string out = fmt::format("    {}: blocks of {}", name, quantised.block);
  for (const TiledIntegers& integers : quantised.integers) {
    out += fmt::format(", {} of p{}", luminal::name(integers.dtype), integers.param.value);
  }
  if (quantised.offset.valid()) out += ", with an offset";
  if (quantised.fixed_point) {
    out += fmt::format(", rows as digits of {}", luminal::name(*quantised.fixed_point));
  }
  return out + "\n";
}

std::string tiling_text(const Tiling& tiling) {
  std::string out = fmt::format(
      "tiling by {}{}: blocks of {} × {}, {} along k; tiles of {} rows × {} panels of {} lanes\n",
      name_of(tiling.multiply), tiling.integers_on_tiles ? ", integers on tiles" : "",
      tiling.block_rows, tiling.block_columns, tiling.block_k, tiling.shape.rows,
      tiling.shape.panels, tiling.lanes);
  out += fmt::format("  rows i{} in {} blocks, columns i{} in {} blocks, others{}{}\n",
                     tiling.row_loop.number(), tiling.row_blocks.text(), tiling.column_loop.value,
                     tiling.column_blocks.text(), loops_text(tiling.others),
                     tiling.same_rows ? ", the same rows for all" : "");
  if (const auto& windows = tiling.windows) {
    out += fmt::format("  windows: {} lines of i{} in a block, {} results every {} positions\n",
                       windows->lines, windows->loop.value, windows->length, windows->pitch);
  }
  for (const TiledContraction& contraction : tiling.contractions) {
    out +=
        fmt::format("  contraction s{} over i{}\n", contraction.stage.value, contraction.k.value);
    out += factor_text("left", contraction.left);
    if (const auto& windows = contraction.windows) {
      out += fmt::format(
          "    right as windows of {} elements: a copy of {} channels, {} elements each\n",
          windows->period(), windows->channels, windows->channel);
    } else if (contraction.same_panels) {
      out += fmt::format("    right as contraction s{}\n",
                         tiling.contractions[*contraction.same_panels].stage.value);
    } else {
      out += factor_text("right", contraction.right);
    }
    if (contraction.quantised) out += quantised_text("quantised", *contraction.quantised);
    if (contraction.made_of) out += quantised_text("panels made", *contraction.made_of);
  }
  return out + "  epilogue" + [&] {
    std::string stages;
    for (kernel::StageId stage : tiling.epilogue) stages += fmt::format(" s{}", stage.value);
    return stages.empty() ? " none\n" : stages + "\n";
  }();
}

std::string row_blocks_text(const RowBlocks& blocks) {
  std::string out =
      fmt::format("row blocks of {} along i{}, {} of them, others{}{}\n", blocks.rows,
                  blocks.row_loop.value, blocks.blocks.text(), loops_text(blocks.others),
                  blocks.masked ? ", with a mask by position" : "");
  for (const BlockedContraction& contraction : blocks.contractions) {
    out += fmt::format(
        "  contraction s{} over i{} by {}: {} along k, tiles of {} rows × {} panels, rows {}\n",
        contraction.stage.value, contraction.k.value, name_of(contraction.multiply),
        contraction.block_k, contraction.shape.rows, contraction.shape.panels,
        name_of(contraction.place));
  }
  return out;
}

std::string stage_text(kernel::StageId id, const ScheduledStage& stage) {
  std::string out = fmt::format("stage s{} loops{}", id.value, loops_text(stage.loops));
  if (stage.vector_loop.valid())
    out += fmt::format(", i{} across {} lanes", stage.vector_loop.value, stage.lanes);
  if (stage.unroll > 1) out += fmt::format(", unrolled {} times", stage.unroll);
  if (stage.in_memory) out += fmt::format(", buffer at {}", stage.local_offset.text());
  out += fmt::format("\n  target {}\n", stage.target.address.text());
  for (size_t i = 0; i < stage.access.size(); ++i) {
    const auto& what = stage.source->body[i].what;
    const bool is_access = std::holds_alternative<kernel::LoadInst>(what) ||
                           std::holds_alternative<kernel::LocalInst>(what);
    if (!is_access) continue;
    out += fmt::format("  %{} at {}", i, stage.access[i].address.text());
    for (const Access::Gathered& row : stage.access[i].gathered) {
      out += fmt::format(" + row %{} × {}", row.value.value, row.stride.text());
    }
    out += "\n";
  }
  return out;
}

}  // namespace

std::string text(const Schedule& schedule) {
  std::string out = fmt::format("points {}, scratch {} bytes\n", schedule.points.text(),
                                schedule.scratch_bytes.text());
  if (schedule.tiling) return out + tiling_text(*schedule.tiling);
  if (schedule.row_blocks) return out + row_blocks_text(*schedule.row_blocks);
  if (schedule.vector_outer) {
    out += fmt::format("outer loop across {} lanes, unrolled {} times\n", schedule.lanes,
                       schedule.unroll);
  }
  for (const SharedRows& shared : schedule.shared_rows) {
    out += fmt::format("shared rows of s{}: lanes along {}\n", shared.stage.value,
                       shared.lanes_along_k ? "k" : "columns");
  }
  for (kernel::StageId s : schedule.stages.ids()) out += stage_text(s, schedule.stages[s]);
  for (const Prefetch& fetch : schedule.prefetches) {
    out += fmt::format("prefetch in s{} of p{}: {} elements ahead\n", fetch.stage.value,
                       fetch.param.value, fetch.distance.text());
  }
  return out;
}

}  // namespace luminal::backends::cpu
