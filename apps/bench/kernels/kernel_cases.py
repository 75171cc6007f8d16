"""The cases of kernels.py; kernels_bench.cpp has ours, torch_kernels.py PyTorch's."""

ROWS, WIDTH, HEAD = 4096, 4096, 64
SINGLE = ["exp2", "log2", "sin", "recip", "sqrt", "add", "mul", "mod", "less_than", "gather", "cast", "sum", "max"]
FUSED = ["softmax", "layer_norm", "rms_norm", "add_rms_norm", "gelu", "swiglu", "relu_fma", "log_softmax", "rotary"]
SETS = {"single": SINGLE, "fused": FUSED}
