// How many f32 operations this machine does in a second: the bound of kernels that compute much.
#pragma once

namespace luminal::base {

// Additions of f32 vectors, the widest the processor has, in independent chains on this many
// threads; takes about `seconds`. An op is one addition or multiplication of one element: what
// fused multiply-adds do on top, in the few kernels that use them, isn't counted.
double measure_peak_flops(unsigned threads, double seconds = 0.1);

}  // namespace luminal::base
