#include "luminal/backends/cpu/schedule/tiling.h"

#include <algorithm>
#include <utility>

#include "luminal/backends/cpu/schedule/fixed_point.h"
#include "luminal/backends/cpu/schedule/lane_pattern.h"
#include "luminal/backends/cpu/schedule/schedule.h"
#include "luminal/kernel/ir/joined_loops.h"
#include "luminal/kernel/recognise/forms.h"
#include "luminal/kernel/recognise/panels.h"

namespace luminal::backends::cpu {
namespace {

using kernel::Contraction;
using kernel::ContractionForm;
using kernel::InstId;
using kernel::Kernel;
using kernel::LoopId;
using kernel::Stage;

using kernel::kMostStreamedRows;
// From this length of k on, two bf16 terms per f32 suffice. Their relative error is 2^-17, half of
// the rounding error of a sum of 256 terms, which is up to 256 · 2^-24.
constexpr int64_t kLongSum = 256;

Expr index_of(const Schedule& schedule, LoopId loop) {
  return kernel::index_of(loop, schedule.extents[loop]);
}

// `e` with given values for some loop indices.
Expr at(const Schedule& schedule, Expr e, std::initializer_list<std::pair<LoopId, Expr>> given) {
  IdVector<LoopId, Expr> replacement;
  for (LoopId loop : schedule.extents.ids()) replacement.push_back(index_of(schedule, loop));
  for (const auto& [loop, index] : given) {
    if (loop.valid()) replacement[loop] = index;
  }
  return e.substitute_indices(replacement.items());
}

// Repeatedly collapses the last two loops of a list, as long as every address allows it.
void merge_loops(Schedule& schedule, std::vector<LoopId>& loops) {
  while (loops.size() >= 2) {
    const LoopId b = loops.back(), a = loops[loops.size() - 2];
    const kernel::JoinedLoops joined(schedule.extents, a, b);
    bool whole = true;
    for_each_expr(schedule, [&](Expr& e) { whole = whole && joined.over(e).has_value(); });
    if (!whole) return;
    for_each_expr(schedule, [&](Expr& e) { e = *joined.over(e); });
    schedule.extents[a] = 1;
    schedule.extents[b] = joined.extent();
    loops.erase(loops.end() - 2);
  }
}

int64_t most_rows(const Kernel& kernel, const ContractionForm& form) {
  Expr rows = 1;
  for (LoopId loop : form.rows) rows = rows * extent_of(kernel, loop);
  return rows.upper_bound();
}

// Adds stages for the scale and offset per quantisation group of a factor that isn't dequantised.
TiledQuantised add_quantised(Kernel& kernel, const kernel::QuantisedForm& form) {
  TiledQuantised quantised;
  quantised.block = form.block;
  for (const kernel::QuantisedTerm& term : form.terms) {
    TiledIntegers integers;
    integers.load = term.integer;
    integers.slope = kernel.stages.push_back(term.slope);
    quantised.integers.push_back(integers);
  }
  if (form.offset) quantised.offset = kernel.stages.push_back(*form.offset);
  return quantised;
}

bool fits_tiles(const kernel::QuantisedForm& form) {
  return form.terms.size() == 1 && form.block % kTileDepth == 0 && !form.rounded;
}

// Makes Tiling::kernel.
Kernel with_factors(const Kernel& kernel, const ContractionForm& form, const Target& target,
                    bool streams, Tiling& tiling) {
  Kernel result = kernel;
  const bool tiles = target.amx_bf16 && target.vector_bytes == 64;
  for (kernel::StageId s : kernel.stages.ids()) {
    if (!kernel.stages[s].reduction) tiling.epilogue.push_back(s);
  }
  const auto& quantised_forms = kernel::forms_of(kernel).quantised;
  for (size_t c = 0; c < form.contractions.size(); ++c) {
    const Contraction& contraction = form.contractions[c];
    const Stage& stage = kernel.stages[contraction.stage];
    TiledContraction tiled;
    tiled.stage = contraction.stage;
    tiled.k = contraction.k;
    tiled.left.stage = result.stages.push_back(kernel::factor_stage(stage, contraction.left));
    tiled.right.stage = result.stages.push_back(kernel::factor_stage(stage, contraction.right));
    if (const auto& quantised = quantised_forms[c]) {
      const bool kept = streams || (tiles && fits_tiles(*quantised));
      (kept ? tiled.quantised : tiled.made_of) = add_quantised(result, *quantised);
    }
    if (!std::holds_alternative<kernel::LocalTarget>(stage.target)) {
      tiling.epilogue.push_back(result.stages.next());
      const kernel::LocalInst sum{.stage = contraction.stage, .index = {}};
      result.stages.push_back({.dtype = stage.dtype,
                               .loops = {},
                               .reduction = {},
                               .body = {{.dtype = stage.dtype, .what = sum}},
                               .result = InstId{0},
                               .target = stage.target});
      result.stages[contraction.stage].target = kernel::LocalTarget{};
    }
    tiling.contractions.push_back(std::move(tiled));
  }
  return result;
}

// The instruction if it is a load without gathered indices.
InstId plain_load(const Stage& factor, InstId id) {
  const auto* load = std::get_if<kernel::LoadInst>(&factor.body[id.index()].what);
  if (load == nullptr) return {};
  const bool gathered =
      std::ranges::any_of(load->index, [](const auto& i) { return i.value.has_value(); });
  return gathered ? InstId() : id;
}

InstId load_under_cast(const Stage& factor) {
  const auto& cast = std::get<kernel::OpInst>(factor.body[factor.result.index()].what);
  return plain_load(factor, cast.operands[0]);
}

// If a load reads packed panels along a loop, i.e. element (n, k) is at
// base + n div L · step + k div v · L · v + n mod L · v + k mod v, returns the step.
std::optional<Expr> panel_step(const Schedule& schedule, const Tiling& tiling, LoopId along,
                               LoopId k_loop, Expr address, kernel::ParamId param, Expr v) {
  const Expr lanes = tiling.lanes;
  const Expr length = schedule.extents[k_loop];
  if (!(length % v).is(0)) return std::nullopt;
  const Expr base = at(schedule, address, {{k_loop, 0}, {along, 0}});
  const Expr step = length * lanes;
  const Expr n = index_of(schedule, along), k = index_of(schedule, k_loop);
  if (address != base + n / lanes * step + k / v * (lanes * v) + n % lanes * v + k % v) return {};
  // Whole vectors are read even for fewer columns, so all of a vector must lie in the tensor.
  const Expr held = n_elements(schedule.kernel->params[param].dims);
  if (!(base % (lanes * v)).is(0) || !(held % (lanes * v)).is(0)) return std::nullopt;
  return step;
}

void find_rows(const Schedule& schedule, const Tiling& tiling, const TiledContraction& contraction,
               TiledFactor& factor) {
  const ScheduledStage& stage = schedule.stages[factor.stage];
  const InstId load = plain_load(*stage.source, tiling.multiply);
  if (!load.valid()) return;
  const Expr address = stage.access[load.index()].address;
  factor.param = std::get<kernel::LoadInst>(stage.source->body[load.index()].what).param;
  const auto k_step = step_along(address, contraction.k);
  auto row_step = !tiling.row_loop.valid() ? Expr(0) : step_along(address, tiling.row_loop);
  if (k_step && !row_step && tiling.multiply == Multiply::F32 &&
      panel_step(schedule, tiling, tiling.row_loop, contraction.k, address, factor.param, 1)) {
    factor.in_panels = true;
    row_step = 1;
  }
  if (!k_step || !row_step) return;
  if (tiling.multiply != Multiply::F32 && !k_step->is(1)) return;  // pairs must be contiguous
  factor.in_place = true;
  factor.address = at(schedule, address, {{contraction.k, 0}});
  factor.step = *row_step;
  factor.k_step = *k_step;
}

// The 16-bit dtype that a factor widens to f32, if micro kernels can widen it on load. For few rows
// a copy in f32 took twice the time; for many rows the copy is made once and read by all.
std::optional<DType> widened_half(const Stage& factor, const Target& target) {
  if (kernel::is_widened(factor, factor.result, DType::BF16)) return DType::BF16;
  const bool has_f16 = !target.x86 || target.vector_bytes > 16;
  const bool is_f16 = kernel::is_widened(factor, factor.result, DType::F16);
  return has_f16 && is_f16 ? std::optional(DType::F16) : std::nullopt;
}

void find_panels(const Schedule& schedule, const Tiling& tiling, const Target& target,
                 bool few_rows, const TiledContraction& contraction, TiledFactor& factor) {
  const ScheduledStage& stage = schedule.stages[factor.stage];
  const bool widens = few_rows && tiling.multiply == Multiply::F32;
  const auto half = widens ? widened_half(*stage.source, target) : std::nullopt;
  const InstId load =
      half ? load_under_cast(*stage.source) : plain_load(*stage.source, tiling.multiply);
  if (!load.valid()) return;
  const kernel::ParamId param =
      std::get<kernel::LoadInst>(stage.source->body[load.index()].what).param;
  const Expr address = stage.access[load.index()].address;
  const auto step = panel_step(schedule, tiling, tiling.column_loop, contraction.k, address, param,
                               elements_per_lane(tiling.multiply));
  if (!step) return;
  factor.in_place = true;
  factor.narrow = half.value_or(DType::F32);
  factor.param = param;
  factor.address = at(schedule, address, {{contraction.k, 0}});
  factor.step = *step;
}

// Locates a factor's integers; resets `factor` unless all of them are in panels.
void find_integers(const Schedule& schedule, const Tiling& tiling, const Target& target,
                   const TiledContraction& contraction, std::optional<TiledQuantised>& factor) {
  if (!factor) return;
  const ScheduledStage& stage = schedule.stages[contraction.stage];
  for (TiledIntegers& integers : factor->integers) {
    const auto& load = std::get<kernel::LoadInst>(stage.source->body[integers.load.index()].what);
    integers.param = load.param;
    integers.dtype = tiling.kernel->params[load.param].dtype;
    const Expr address = stage.access[integers.load.index()].address;
    integers.depth = packing_for(target).depth(integers.dtype);
    const auto step = panel_step(schedule, tiling, tiling.column_loop, contraction.k, address,
                                 load.param, integers.depth);
    if (!step) {
      factor.reset();
      return;
    }
    integers.address = at(schedule, address, {{contraction.k, 0}});
    integers.step = *step;
  }
}

bool packs_in_every_run(const TiledContraction& contraction) {
  return !contraction.right.in_place && !contraction.quantised && !contraction.made_of &&
         !contraction.windows;
}

// Whether both right factors are the same load of the same elements.
bool have_same_panels(const Schedule& schedule, Multiply multiply, const TiledContraction& a,
                      const TiledContraction& b) {
  if (schedule.extents[a.k] != schedule.extents[b.k]) return false;
  const ScheduledStage& first = schedule.stages[a.right.stage];
  const ScheduledStage& second = schedule.stages[b.right.stage];
  const InstId load = plain_load(*first.source, multiply);
  const InstId other = plain_load(*second.source, multiply);
  if (!load.valid() || !other.valid()) return false;
  const auto param_of = [](const ScheduledStage& stage, InstId id) {
    return std::get<kernel::LoadInst>(stage.source->body[id.index()].what).param;
  };
  if (param_of(first, load) != param_of(second, other)) return false;
  const Expr address = second.access[other.index()].address;
  return at(schedule, address, {{b.k, index_of(schedule, a.k)}}) ==
         first.access[load.index()].address;
}

// As of the convolutions of one image that one kernel computes.
void find_same_panels(const Schedule& schedule, Tiling& tiling) {
  for (size_t later = 1; later < tiling.contractions.size(); ++later) {
    TiledContraction& contraction = tiling.contractions[later];
    if (!packs_in_every_run(contraction)) continue;
    for (size_t earlier = 0; earlier < later && !contraction.same_panels; ++earlier) {
      const TiledContraction& first = tiling.contractions[earlier];
      if (first.same_panels || !packs_in_every_run(first)) continue;
      if (have_same_panels(schedule, tiling.multiply, first, contraction)) {
        contraction.same_panels = earlier;
      }
    }
  }
}

// Which integers are multiplied in fixed point: u4 if there are any, else bytes.
std::optional<DType> in_fixed_point(const Target& target, const TiledQuantised& quantised) {
  if (!multiplies_bytes(target)) return std::nullopt;
  for (DType dtype : {DType::U4, DType::I8, DType::U8}) {
    const bool any = std::ranges::find(quantised.integers, dtype, &TiledIntegers::dtype) !=
                     quantised.integers.end();
    if (any && fits_fixed_point(dtype, quantised.block)) return dtype;
  }
  return std::nullopt;
}

Multiply choose_multiply(const Kernel& kernel, const ContractionForm& form, const Target& target,
                         int64_t most_rows) {
  const bool exact = std::ranges::all_of(form.contractions, [&](const Contraction& contraction) {
    const Stage& stage = kernel.stages[contraction.stage];
    return kernel::is_widened(stage, contraction.left, DType::BF16) &&
           kernel::is_widened(stage, contraction.right, DType::BF16);
  });
  return best_multiply(target, exact ? DType::BF16 : DType::F32, most_rows);
}

// Whether rows at this stride conflict in the L1 cache: they map to few sets, and tiles read many
// rows, which evict one another before they are reused. Tiles took 1.4 times as long. Copying rows
// only to avoid that takes as long as it saves.
bool crowd_each_other(Expr bytes_apart) { return (bytes_apart % 2048).is(0); }

void choose_blocks(const Schedule& schedule, const kernel::ScheduleChoices& choices,
                   Tiling& tiling) {
  const int64_t rows = tiling.shape.rows;
  const int64_t columns = int64_t{tiling.shape.panels} * tiling.lanes;
  const Expr n = schedule.extents[tiling.column_loop];
  const Expr m = !tiling.row_loop.valid() ? 1 : schedule.extents[tiling.row_loop];
  const auto n_sums = static_cast<int64_t>(tiling.contractions.size());
  tiling.block_k = choices.get(kernel::Knob::BlockK, kTileBlockK);
  const int64_t tiles = rows > 8 ? 8 : 16;  // stacked vertically in a block
  tiling.block_rows = std::min(tiles * rows, round_up(m.to_int().value_or(tiles * rows), rows));
  const int64_t most = kSumBytes / 4 / n_sums / std::max<int64_t>(1, tiling.block_rows);
  tiling.block_columns = std::clamp<int64_t>(most / columns * columns, columns, 8 * columns);
  auto blocks = [&] {
    const int64_t across = n.to_int().value_or(INT32_MAX) + tiling.block_columns - 1;
    const int64_t down = m.to_int().value_or(1) + tiling.block_rows - 1;
    return across / tiling.block_columns * (down / tiling.block_rows);
  };
  while (tiling.block_columns > columns && blocks() < kEnoughBlocks) {
    tiling.block_columns = round_up(tiling.block_columns / 2, columns);
  }
  while (tiling.block_rows > rows && blocks() < kEnoughBlocks) {
    tiling.block_rows = round_up(tiling.block_rows / 2, rows);
  }
  tiling.block_rows = round_up(choices.get(kernel::Knob::BlockRows, tiling.block_rows), rows);
  tiling.block_columns =
      round_up(choices.get(kernel::Knob::BlockColumns, tiling.block_columns), columns);
  tiling.column_blocks = ceil_div(n, tiling.block_columns);
  tiling.row_blocks = ceil_div(m, tiling.block_rows);
}

// Chooses how quantised factors are multiplied, and the shape of tiles. `rows` is the extent of the
// row loop that blocks divide, `all_rows` the number of rows of the kernel.
void choose_shape(Tiling& tiling, const Target& target, const kernel::ScheduleChoices& choices,
                  bool streams, int64_t rows) {
  const bool all_integers = std::ranges::all_of(
      tiling.contractions, [](const TiledContraction& c) { return c.quantised.has_value(); });
  tiling.integers_on_tiles = !streams && rows > kMostStreamedRows && all_integers;
  bool streamed = false;
  for (TiledContraction& contraction : tiling.contractions) {
    if (!streams && !tiling.integers_on_tiles && contraction.quantised) {
      contraction.made_of = std::exchange(contraction.quantised, std::nullopt);
    }
    if (!contraction.quantised) continue;
    // Rows must be contiguous along k.
    if (!contraction.left.k_step.is(1)) contraction.left.in_place = false;
    if (!streams) continue;
    streamed = true;
    if (choices.get(kernel::Knob::Digits, 1) == 0) continue;
    contraction.quantised->fixed_point = in_fixed_point(target, *contraction.quantised);
  }
  tiling.shape = tiling.integers_on_tiles ? MicroShape{.rows = 16, .panels = 4}
                 : streamed               ? streamed_shape(target, rows)
                                          : micro_shape(target, tiling.multiply, rows);
  if (streamed || tiling.integers_on_tiles || on_tiles(tiling.multiply)) {
    // These shapes don't keep to panels of rows.
    for (TiledContraction& contraction : tiling.contractions) {
      if (std::exchange(contraction.left.in_panels, false)) contraction.left.in_place = false;
    }
    return;
  }
  auto tile_rows =
      static_cast<int>(choices.get(kernel::Knob::TileRows, int64_t{tiling.shape.rows}));
  const bool in_panels = std::ranges::any_of(
      tiling.contractions, [](const TiledContraction& c) { return c.left.in_panels; });
  // A tile lies in one panel of rows.
  if (in_panels) tile_rows = tile_rows > 4 && target.avx512 ? 8 : tile_rows > 2 ? 4 : tile_rows;
  if (tile_rows != tiling.shape.rows) {
    tiling.shape = micro_shape_of(target, tiling.multiply, tile_rows);
  }
}

// Whether all blocks have the same left factors, as those of different heads in a projection do.
bool have_same_rows(const Schedule& schedule, const Tiling& tiling) {
  if (tiling.row_blocks.upper_bound() > 1) return false;
  auto varies = [&](const TiledContraction& contraction) {
    const ScheduledStage& left = schedule.stages[contraction.left.stage];
    return std::ranges::any_of(tiling.others, [&](LoopId loop) {
      const std::vector<bool> varying_there = varying(left, loop, true);
      return std::ranges::any_of(varying_there, [](bool v) { return v; });
    });
  };
  return std::ranges::none_of(tiling.contractions, varies);
}

void place_in_scratch(Schedule& schedule, Tiling& tiling) {
  Expr offset = kSpareBytes;
  const Expr element = element_bytes(tiling.multiply), lanes = tiling.lanes;
  const Expr v = elements_per_lane(tiling.multiply);
  for (TiledContraction& contraction : tiling.contractions) {
    const Expr k = schedule.extents[contraction.k];
    contraction.sums = offset;
    offset = offset + align64(tiling.block_rows * tiling.block_columns * 4);
    if (contraction.quantised) {
      contraction.quantised->row_sums = offset;
      const Expr parts = align64(k / contraction.quantised->block * Expr(tiling.block_rows * 4));
      offset = offset + parts;
      if (contraction.quantised->fixed_point) {
        contraction.quantised->units = offset;
        contraction.quantised->digits = offset + parts;
        const int64_t block = contraction.quantised->block;
        const int64_t bytes = part_bytes(*contraction.quantised->fixed_point, block);
        offset = offset + parts + align64(k / block * Expr(tiling.block_rows * bytes));
      }
      if (tiling.integers_on_tiles) {
        contraction.quantised->n_row_parts = k.lower_bound() >= kLongSum ? 2 : 3;
        contraction.quantised->row_parts = offset;
        offset = offset + k * Expr(tiling.block_rows * 2 * contraction.quantised->n_row_parts);
        contraction.quantised->panels = offset;
        contraction.quantised->tiles = offset + Expr(tiling.block_columns * 2 * kPanelDepth);
        offset = contraction.quantised->tiles + Expr(kStretchesAtOnce * kTilePiece);
      }
    }
    // Rounded up, since whole vectors are written along a row.
    contraction.left.pitch = align64(ceil_div(k, lanes) * lanes * element);
    if (crowd_each_other(contraction.left.pitch)) {
      contraction.left.pitch = contraction.left.pitch + 64;
    }
    contraction.left.scratch = offset;
    if (!contraction.left.in_place) {
      offset = offset + contraction.left.pitch * Expr(tiling.block_rows);
    }
    contraction.right.pitch =
        (contraction.made_of ? Expr(tiling.block_k) : ceil_div(k, v) * v) * lanes * element;
    contraction.right.scratch = offset;
    if (contraction.windows) {
      offset = offset + align64(contraction.windows->bytes());
    } else if (contraction.same_panels) {
      contraction.right.scratch = tiling.contractions[*contraction.same_panels].right.scratch;
    } else if (!contraction.right.in_place && !contraction.quantised) {
      offset = offset + align64(contraction.right.pitch * Expr(tiling.block_columns) / lanes);
    }
  }
  schedule.scratch_bytes = offset;
}

}  // namespace

InstId plain_load(const Stage& factor, Multiply multiply) {
  return multiply == Multiply::F32 ? plain_load(factor, factor.result) : load_under_cast(factor);
}

void tile_schedule(Schedule& schedule, const Kernel& kernel, const ContractionForm& form,
                   const Target& target, const EmitOptions& options) {
  const int64_t all_rows = most_rows(kernel, form);
  const bool streams =
      all_rows <= options.choices.get(kernel::Knob::StreamedRows, kMostStreamedRows);
  Tiling tiling;
  tiling.lanes = target.vector_bytes / 4;
  tiling.kernel = std::make_shared<Kernel>(with_factors(kernel, form, target, streams, tiling));
  schedule.kernel = tiling.kernel.get();
  schedule.stages = {};
  for (const Stage& stage : tiling.kernel->stages) {
    schedule.stages.push_back(flatten(*tiling.kernel, stage));
  }
  std::vector<LoopId> rows = form.rows, columns = form.columns;
  merge_loops(schedule, rows);
  merge_loops(schedule, columns);
  tiling.column_loop = columns.back();
  tiling.row_loop = rows.empty() ? LoopId() : rows.back();
  const int64_t most =
      !tiling.row_loop.valid() ? 1 : schedule.extents[tiling.row_loop].upper_bound();
  const bool streams_integers = std::ranges::any_of(
      tiling.contractions, [](const TiledContraction& c) { return c.quantised.has_value(); });
  // The left factor of a quantised product is f32.
  tiling.multiply = streams_integers ? Multiply::F32 : choose_multiply(kernel, form, target, most);
  for (TiledContraction& contraction : tiling.contractions) {
    find_rows(schedule, tiling, contraction, contraction.left);
    find_panels(schedule, tiling, target, streams, contraction, contraction.right);
    find_integers(schedule, tiling, target, contraction, contraction.quantised);
    find_integers(schedule, tiling, target, contraction, contraction.made_of);
  }
  tiling.unroll_k = options.choices.get(kernel::Knob::UnrollK, 0);
  tiling.prefetch_bytes = options.choices.get(kernel::Knob::PrefetchBytes, kPanelBytesAhead);
  const auto& windows = kernel::forms_of(kernel).windows;
  if (options.choices.get(kernel::Knob::Windows, 1) != 0) find_windows(schedule, windows, tiling);
  for (LoopId loop : outer_loops(kernel)) {
    const bool divided = loop == tiling.column_loop || loop == tiling.row_loop ||
                         (tiling.windows && loop == tiling.windows->loop);
    if (!divided && !schedule.extents[loop].is(1)) tiling.others.push_back(loop);
  }
  choose_shape(tiling, target, options.choices, streams, most);
  if (tiling.windows) {
    choose_window_blocks(schedule, options.choices, windows->forms, tiling);
  } else {
    choose_blocks(schedule, options.choices, tiling);
  }
  find_same_panels(schedule, tiling);
  tiling.same_rows = have_same_rows(schedule, tiling);
  place_in_scratch(schedule, tiling);

  schedule.vector_outer = true;
  schedule.lanes = tiling.lanes;
  schedule.unroll = tiling.shape.panels;
  schedule.points = tiling.row_blocks * tiling.column_blocks;
  for (LoopId loop : tiling.others) {
    schedule.points = schedule.points * schedule.extents[loop];
  }
  for (ScheduledStage& stage : schedule.stages) {
    stage.vector_loop = tiling.column_loop;
    stage.lanes = tiling.lanes;
    stage.unroll = schedule.unroll;
  }
  for (const TiledContraction& contraction : tiling.contractions) {
    schedule.stages[contraction.left.stage].vector_loop = contraction.k;
  }
  schedule.tiling = std::move(tiling);
}

}  // namespace luminal::backends::cpu
