// Windows: right factors of a GEMM whose columns are windows of an image, as in a convolution.
//
// Packed into panels, an image is copied once per element of a window: nine times for 3 × 3.
// Instead each block copies what its windows see once, with its padding, and micro kernels read
// vectors of that copy at an offset for each element of the window.
//
// Example: 3 × 3 windows, stride 1, for lines of 14 results. The copy has lines of 16 elements, its
// pitch. Position 16 · line + x stands for result (line, x). Of channel c, window element (ky, kx)
// of position p is at c · channel + 16 · ky + kx + p, so that a vector holds one element of 16
// windows side by side. Sums at positions with x ≥ 14 are computed and never read.
//
// With a stride of 2 the copy consists of planes, one for each of even and odd lines and columns:
// windows side by side then read elements side by side.
#pragma once

#include <optional>
#include <vector>

#include "luminal/kernel/plan/schedule_choices.h"
#include "luminal/kernel/recognise/window_form.h"

namespace luminal::backends::cpu {

struct Schedule;
struct Tiling;

// Lines that all contractions of a block share.
struct WindowLines {
  kernel::LoopId loop;
  int64_t extent = 1;  // of that loop
  int64_t length = 1;  // results of a line
  int64_t pitch = 1;   // positions from line to line
  int64_t lines = 1;   // of a block

  // Positions of `n` lines, without what follows the last result.
  int64_t positions(int64_t n) const { return (n - 1) * pitch + length; }
};

// The copy that a block makes, in elements of f32.
struct TiledWindows {
  // The elements of the image that windows with one remainder by the strides see.
  struct Plane {
    int64_t k = 0;     // a window element that sees it
    int64_t base = 0;  // of the plane in the channel's copy
    int64_t down = 0;  // line and column that this element sees in window 0
    int64_t across = 0;
    int64_t last_down = 0;  // and the last ones that any element sees there
    int64_t last_across = 0;
  };
  std::vector<Plane> planes;
  std::vector<int64_t> offsets;  // of each element of a window, from the start of the channel
  int64_t channel = 0;           // from channel to channel
  int64_t channels = 1;
  int64_t period() const { return static_cast<int64_t>(offsets.size()); }
  int64_t bytes() const { return (channels * channel + 64) * 4; }  // whole vectors are read
};

TiledWindows lay_out(const kernel::WindowForm& form, const WindowLines& lines, int64_t length_of_k);

// Sets Tiling::windows if right factors are read as windows: not if they are packed, if loops were
// collapsed, or if panels are better.
void find_windows(const Schedule& schedule, const std::optional<kernel::WindowForms>& windows,
                  Tiling& tiling);

// Sizes of blocks, and what they copy. Rows are divided before lines, since neighbouring blocks of
// lines both copy the lines between them.
void choose_window_blocks(const Schedule& schedule, const kernel::ScheduleChoices& choices,
                          const std::vector<kernel::WindowForm>& forms, Tiling& tiling);

}  // namespace luminal::backends::cpu
