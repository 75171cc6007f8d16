#include "luminal/backends/cpu/schedule/windows.h"

#include <algorithm>

#include "luminal/backends/cpu/schedule/schedule.h"

namespace luminal::backends::cpu {
namespace {

// By remainder of the stride: the first window element with it, and the positions that it and the
// last one see in window 0.
struct Phase {
  int64_t remainder, element, first, last;
};

std::vector<Phase> phases(const kernel::WindowAxis& axis) {
  std::vector<Phase> found;
  for (int64_t d = 0; d < axis.size; ++d) {
    const int64_t at = d * axis.dilation;
    const int64_t remainder = at % axis.stride, position = at / axis.stride;
    const auto known = std::ranges::find(found, remainder, &Phase::remainder);
    if (known == found.end()) {
      found.push_back({remainder, d, position, position});
    } else {
      known->last = position;
    }
  }
  return found;
}

}  // namespace

TiledWindows lay_out(const kernel::WindowForm& form, const WindowLines& lines,
                     int64_t length_of_k) {
  const int64_t plane_size = (lines.lines + kernel::beyond(form.down)) * lines.pitch;
  const std::vector<Phase> down = phases(form.down), across = phases(form.across);
  TiledWindows windows;
  for (const Phase& y : down) {
    for (const Phase& x : across) {
      windows.planes.push_back(
          {.k = y.element * form.down.divisor + x.element * form.across.divisor,
           .base = static_cast<int64_t>(windows.planes.size()) * plane_size,
           .down = y.first,
           .across = x.first,
           .last_down = y.last,
           .last_across = x.last});
    }
  }
  const auto number = [](const std::vector<Phase>& all, const kernel::WindowAxis& axis,
                         int64_t at) {
    return std::ranges::find(all, at % axis.stride, &Phase::remainder) - all.begin();
  };
  for (int64_t j = 0; j < form.period; ++j) {
    const int64_t y = j / form.down.divisor % form.down.size * form.down.dilation;
    const int64_t x = j / form.across.divisor % form.across.size * form.across.dilation;
    const int64_t plane = number(down, form.down, y) * static_cast<int64_t>(across.size()) +
                          number(across, form.across, x);
    windows.offsets.push_back(plane * plane_size + y / form.down.stride * lines.pitch +
                              x / form.across.stride);
  }
  // An odd number of cache lines apart, so that channels don't compete for sets of the L1 cache.
  constexpr int64_t kLine = 16;
  const auto n_planes = static_cast<int64_t>(windows.planes.size());
  windows.channel = ((n_planes * plane_size + kLine - 1) / kLine | 1) * kLine;
  windows.channels = length_of_k / form.period;
  return windows;
}

namespace {

// The copy of what a block's windows see stays in the L2 cache, beside the sums.
constexpr int64_t kImageBytes = 512 << 10;
// Tiles side by side and one above the other that a block of windows isn't divided below.
constexpr int64_t kFewTiles = 4;
// Elements of a window, and planes of a copy, that code is made for.
constexpr int64_t kLargestWindow = 1024;
constexpr int64_t kMostPlanes = 9;

// The most lines of a block whose copies fit, and what it copies for each contraction.
void lay_out_windows(const std::vector<kernel::WindowForm>& forms, int64_t most_positions,
                     Tiling& tiling, const Schedule& schedule) {
  WindowLines& windows = *tiling.windows;
  const auto copied = [&](int64_t lines) {
    windows.lines = lines;
    int64_t bytes = 0;
    for (size_t c = 0; c < forms.size(); ++c) {
      TiledContraction& contraction = tiling.contractions[c];
      contraction.windows =
          lay_out(forms[c], windows, schedule.extents[contraction.k].to_int().value());
      bytes += contraction.windows->bytes();
    }
    return bytes;
  };
  int64_t lines = std::clamp<int64_t>(most_positions / windows.pitch, 1, windows.extent);
  while (lines > 1 && copied(lines) > kImageBytes) lines = (lines + 1) / 2;
  const int64_t blocks = (windows.extent + lines - 1) / lines;
  copied((windows.extent + blocks - 1) / blocks);
}

// Whether windows gain by one copy of the image. Windows of one element only gain lines that end
// within vectors; each plane of the copy is code of its own; and what is computed between lines
// must not be more than lines themselves.
bool is_worth_copying(const kernel::WindowForm& form, int64_t length, int64_t lanes) {
  const auto planes = [](const kernel::WindowAxis& axis) {
    return std::min(axis.stride, axis.size);
  };
  if (form.period > kLargestWindow || planes(form.down) * planes(form.across) > kMostPlanes) {
    return false;
  }
  const bool plain = form.period == 1 && form.down.stride == 1 && form.across.stride == 1;
  if (plain && (length % lanes == 0 || length > 8 * lanes)) return false;
  return length + kernel::beyond(form.across) <= 2 * round_up(length, lanes);
}

// Whether right factors are windows that loops still tell apart, and not packed.
bool reads_windows(const Schedule& schedule, const Tiling& tiling,
                   const std::optional<kernel::WindowForms>& windows) {
  return windows && tiling.multiply == Multiply::F32 && tiling.column_loop == windows->column &&
         std::ranges::all_of(windows->forms,
                             [&](const kernel::WindowForm& form) {
                               return is_worth_copying(
                                   form, schedule.extents[windows->column].to_int().value_or(0),
                                   tiling.lanes);
                             }) &&
         schedule.extents[windows->column] == extent_of(*tiling.kernel, windows->column) &&
         std::ranges::none_of(tiling.contractions, [](const TiledContraction& contraction) {
           return contraction.right.in_place || contraction.quantised || contraction.made_of;
         });
}

WindowLines lines_of(const Schedule& schedule, const kernel::WindowForms& windows) {
  const int64_t length = schedule.extents[windows.column].to_int().value();
  WindowLines lines{.loop = windows.line,
                    .extent = schedule.extents[windows.line].to_int().value(),
                    .length = length,
                    .pitch = length};
  for (const kernel::WindowForm& form : windows.forms) {
    lines.pitch = std::max(lines.pitch, length + kernel::beyond(form.across));
  }
  return lines;
}

// What a block of one line copies.
int64_t bytes_of_a_line(const Schedule& schedule, const Tiling& tiling,
                        const std::vector<kernel::WindowForm>& forms) {
  int64_t bytes = 0;
  for (size_t c = 0; c < forms.size(); ++c) {
    const int64_t length = schedule.extents[tiling.contractions[c].k].to_int().value();
    bytes += lay_out(forms[c], *tiling.windows, length).bytes();
  }
  return bytes;
}

}  // namespace

void find_windows(const Schedule& schedule, const std::optional<kernel::WindowForms>& windows,
                  Tiling& tiling) {
  if (!reads_windows(schedule, tiling, windows)) return;
  tiling.windows = lines_of(schedule, *windows);
  if (bytes_of_a_line(schedule, tiling, windows->forms) > 2 * kImageBytes) tiling.windows.reset();
}

void choose_window_blocks(const Schedule& schedule, const kernel::ScheduleChoices& choices,
                          const std::vector<kernel::WindowForm>& forms, Tiling& tiling) {
  WindowLines& windows = *tiling.windows;
  const int64_t rows = tiling.shape.rows;
  const int64_t columns = int64_t{tiling.shape.panels} * tiling.lanes;
  const int64_t m =
      !tiling.row_loop.valid() ? 1 : schedule.extents[tiling.row_loop].to_int().value_or(16 * rows);
  const auto n_sums = static_cast<int64_t>(tiling.contractions.size());
  int64_t others = 1;
  for (kernel::LoopId loop : tiling.others) others *= schedule.extents[loop].to_int().value_or(1);
  tiling.block_k = choices.get(kernel::Knob::BlockK, kTileBlockK);
  tiling.block_rows = std::min(16 * rows, round_up(m, rows));
  int64_t most = choices.get(kernel::Knob::BlockColumns,
                             kSumBytes / 4 / n_sums / std::max<int64_t>(1, tiling.block_rows));
  // A block has one line at least.
  while (tiling.block_rows > rows &&
         windows.pitch * tiling.block_rows * n_sums * 4 > 2 * kSumBytes) {
    tiling.block_rows = round_up(tiling.block_rows / 2, rows);
  }
  lay_out_windows(forms, most, tiling, schedule);
  const auto blocks = [&] {
    return others * ((m + tiling.block_rows - 1) / tiling.block_rows) *
           ((windows.extent + windows.lines - 1) / windows.lines);
  };
  while (tiling.block_rows > kFewTiles * rows && blocks() < kEnoughBlocks) {
    tiling.block_rows = round_up(tiling.block_rows / 2, rows);
  }
  const bool asked = choices.find(kernel::Knob::BlockColumns).has_value();
  while (!asked && windows.positions(windows.lines) > kFewTiles * columns && windows.lines > 1 &&
         blocks() < kEnoughBlocks) {
    most = windows.positions(windows.lines) / 2;
    lay_out_windows(forms, most, tiling, schedule);
  }
  tiling.block_rows = round_up(choices.get(kernel::Knob::BlockRows, tiling.block_rows), rows);
  tiling.block_columns = round_up(windows.positions(windows.lines), columns);
  tiling.column_blocks = (windows.extent + windows.lines - 1) / windows.lines;
  tiling.row_blocks = !tiling.row_loop.valid()
                          ? Expr(1)
                          : ceil_div(schedule.extents[tiling.row_loop], tiling.block_rows);
}

}  // namespace luminal::backends::cpu
