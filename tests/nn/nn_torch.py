"""Writes one safetensors file per case of nn_test: a module's state dict under "w.", its inputs as
"in.0", "in.1" … and its output as "out"."""
import pathlib
import sys

try:
    import torch
    from safetensors.torch import save_file
    from torch import nn
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)


class GroupedAttention(nn.Module):
    """Llama's projections, without the rotation."""

    def __init__(self, features, heads, kv_heads, head_size):
        super().__init__()
        self.heads, self.kv_heads, self.head_size = heads, kv_heads, head_size
        self.q_proj = nn.Linear(features, heads * head_size, bias=False)
        self.k_proj = nn.Linear(features, kv_heads * head_size, bias=False)
        self.v_proj = nn.Linear(features, kv_heads * head_size, bias=False)
        self.o_proj = nn.Linear(heads * head_size, features, bias=False)

    def forward(self, x):
        def split(y, heads):
            return y.unflatten(-1, (heads, self.head_size)).transpose(-3, -2)

        q, k, v = split(self.q_proj(x), self.heads), split(self.k_proj(x), self.kv_heads), split(
            self.v_proj(x), self.kv_heads)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.o_proj(y.transpose(-3, -2).flatten(-2))


def attention(module, *inputs, **options):
    return module(*inputs, need_weights=False, **options)[0]


def causal(size):
    return nn.Transformer.generate_square_subsequent_mask(size)


def cases():
    """Name, module, inputs and, where it isn't a plain call, how to run it."""
    r = torch.randn
    yield "linear", nn.Linear(5, 7), [r(2, 3, 5)]
    yield "linear_no_bias", nn.Linear(5, 7, bias=False), [r(4, 5)]
    yield "linear_vector", nn.Linear(5, 7), [r(5)]
    yield "conv1d", nn.Conv1d(4, 6, 3), [r(2, 4, 11)]
    yield "conv1d_all", nn.Conv1d(4, 6, 3, stride=2, padding=2, dilation=2, groups=2), [r(2, 4, 11)]
    yield "conv2d", nn.Conv2d(3, 5, 3), [r(2, 3, 6, 7)]
    yield "conv2d_all", nn.Conv2d(4, 8, (3, 2), stride=(2, 1), padding=(1, 2), dilation=(1, 2),
                                  groups=2, bias=False), [r(2, 4, 9, 8)]
    yield "conv2d_depthwise", nn.Conv2d(4, 4, 3, padding=1, groups=4), [r(1, 4, 5, 5)]
    yield "conv2d_no_batch", nn.Conv2d(3, 2, 2), [r(3, 4, 5)]
    yield "embedding", nn.Embedding(10, 4), [torch.tensor([[1, 9, 0], [3, 3, 2]])]
    yield "layer_norm", nn.LayerNorm(6), [r(2, 3, 6)]
    yield "layer_norm_two_axes", nn.LayerNorm((3, 6), eps=1e-3), [r(2, 3, 6)]
    yield "layer_norm_no_bias", nn.LayerNorm(6, bias=False), [r(2, 6)]
    yield "layer_norm_plain", nn.LayerNorm(6, elementwise_affine=False), [r(2, 6)]
    yield "rms_norm", nn.RMSNorm(6), [r(2, 3, 6)]
    yield "rms_norm_eps", nn.RMSNorm(6, eps=1e-2), [r(2, 6)]
    yield "group_norm", nn.GroupNorm(2, 6), [r(2, 6, 4, 3)]
    yield "group_norm_1d", nn.GroupNorm(3, 6, affine=False), [r(2, 6, 5)]
    yield "batch_norm1d", nn.BatchNorm1d(5), [r(4, 5)]
    yield "batch_norm2d", nn.BatchNorm2d(3, eps=1e-3), [r(2, 3, 4, 4)]
    yield "batch_norm_plain", nn.BatchNorm1d(5, affine=False), [r(2, 5, 3)]
    mha = lambda **options: nn.MultiheadAttention(8, 2, batch_first=True, **options)
    x = r(2, 5, 8)
    yield "attention", mha(), [x], lambda m, x: attention(m, x, x, x)
    yield "attention_no_bias", mha(bias=False), [x], lambda m, x: attention(m, x, x, x)
    yield "attention_no_batch", mha(), [r(5, 8)], lambda m, x: attention(m, x, x, x)
    yield "attention_causal", mha(), [x], lambda m, x: attention(m, x, x, x, attn_mask=causal(5))
    yield "attention_cross", mha(), [x, r(2, 7, 8)], lambda m, x, y: attention(m, x, y, y)
    yield "attention_dims", mha(kdim=3, vdim=4), [x, r(2, 7, 3), r(2, 7, 4)], attention
    seen = torch.rand(5, 5) > 0.4
    seen[:, 0] = True
    yield "attention_bool_mask", mha(), [x, seen], lambda m, x, s: attention(m, x, x, x, attn_mask=~s)
    added = r(5, 5)
    yield "attention_added_mask", mha(), [x, added], lambda m, x, a: attention(m, x, x, x, attn_mask=a)
    yield "grouped_attention", GroupedAttention(8, 4, 2, 6), [r(2, 5, 8)]
    encoder = lambda **o: nn.TransformerEncoderLayer(8, 2, 12, batch_first=True, **o)
    decoder = lambda **o: nn.TransformerDecoderLayer(8, 2, 12, batch_first=True, **o)
    memory = r(2, 7, 8)
    yield "encoder_layer", encoder(), [x]
    yield "encoder_layer_pre", encoder(norm_first=True, activation="gelu"), [x]
    yield "encoder_layer_no_bias", encoder(bias=False, layer_norm_eps=1e-2), [x]
    yield "encoder", nn.TransformerEncoder(encoder(), 3, norm=nn.LayerNorm(8)), [x]
    yield "decoder_layer", decoder(), [x, memory]
    yield "decoder_layer_pre", decoder(norm_first=True, activation="gelu"), [
        x, memory], lambda m, x, y: m(x, y, tgt_mask=causal(5))
    yield "decoder", nn.TransformerDecoder(decoder(), 2, norm=nn.LayerNorm(8)), [
        x, memory], lambda m, x, y: m(x, y, tgt_mask=causal(5))
    yield "sequential_mlp", nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3)), [r(2, 4)]
    yield "sequential_cnn", nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Sequential(nn.Linear(36, 5), nn.Tanh())), [r(2, 1, 6, 6)]


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.manual_seed(7)
    for name, module, inputs, *run in cases():
        with torch.no_grad():
            for key, tensor in module.state_dict().items():
                # Away from ones and zeros, so that a weight that isn't used shows.
                if key.endswith("running_var"):
                    tensor.uniform_(0.5, 2)
                elif tensor.is_floating_point():
                    tensor.normal_(0, 0.5)
            module.eval()
            out = run[0](module, *inputs) if run else module(*inputs)
        tensors = {f"w.{key}": value for key, value in module.state_dict().items()}
        tensors |= {f"in.{i}": value for i, value in enumerate(inputs)}
        tensors["out"] = out
        save_file({key: value.contiguous().clone() for key, value in tensors.items()},
                  folder / f"{name}.safetensors")


main()
