"""The model as an OpenVINO graph with its cache as state, in the patterns that its CPU plugin fuses.

Weights are constants in their own type, converted in the graph: the plugin keeps them, or packs them as bf16.
"""
import numpy as np
from openvino.op.util import Variable, VariableInfo

from ..blocks import BLOCK, Blocks


class Builder:
    def __init__(self, openvino, weights):
        import openvino.opset13 as ops
        self.ov, self.ops, self.weights, self.shape = openvino, ops, weights, weights.shape
        self.assigns = []

    def constant(self, array, kind=None):
        array = np.asarray(array)
        return self.ops.constant(array, dtype=kind or self.ov.Type(array.dtype))

    def ints(self, *values):
        return self.ops.constant(np.array(values, np.int64))

    def copied(self, tensor):
        """A constant that owns its memory: a tensor only points to its array, which is freed before the model runs."""
        return self.ops.constant(tensor, shared_memory=False)

    def blocks(self, matrix):
        """[rows, columns] as f32, from quants and a scale per block."""
        rows, count = matrix.scales.shape
        if matrix.bits == 4:
            # Two neighbours per byte, in two's complement: OpenVINO's layout of i4.
            quants = matrix.quants.astype(np.uint8) & 15
            packed = np.ascontiguousarray(quants[:, :, 0::2] | quants[:, :, 1::2] << 4)
            tensor = self.ov.Tensor(packed, [rows, count, BLOCK], self.ov.Type.i4)
        else:
            tensor = self.ov.Tensor(np.ascontiguousarray(matrix.quants))
        quants = self.ops.convert(self.copied(tensor), "f16")
        scaled = self.ops.multiply(quants, self.constant(np.ascontiguousarray(matrix.scales)[:, :, None]))
        flat = self.ops.reshape(scaled, self.ints(rows, count * BLOCK), False)
        return self.ops.convert(flat, "f32")

    def wide(self, matrix):
        if isinstance(matrix, Blocks):
            return self.blocks(matrix)
        bits = (np.ascontiguousarray(matrix).view(np.uint32) >> 16).astype(np.uint16)  # exact: the weights are bf16
        tensor = self.ov.Tensor(bits, list(matrix.shape), self.ov.Type.bf16)
        return self.ops.convert(self.copied(tensor), "f32")

    def product(self, x, name):
        return self.ops.matmul(x, self.wide(self.weights.matrix(name)), False, True)

    def norm(self, x, name):
        mean = self.ops.reduce_mean(self.ops.power(x, self.constant(np.float32([[[2]]]))), self.ints(-1), True)
        root = self.ops.sqrt(self.ops.add(mean, self.constant(np.float32([[[self.shape["rms_norm_eps"]]]]))))
        scaled = self.ops.multiply(x, self.ops.divide(self.constant(np.float32([[[1]]])), root))
        return self.ops.multiply(self.constant(self.weights.vector(name)[None, None]), scaled)

    def heads(self, x, count):
        """[1, s, heads · width] to [1, heads, s, width]"""
        split = self.ops.reshape(x, self.ints(0, 0, count, self.shape["head_dim"]), True)
        return self.ops.transpose(split, self.ints(0, 2, 1, 3))

    def rotations(self, positions):
        half = self.shape["head_dim"] // 2
        frequencies = self.shape["rope_theta"] ** (-np.arange(half, dtype=np.float64) / half)
        column = self.constant(frequencies.astype(np.float32)[None, :, None])
        row = self.ops.convert(self.ops.unsqueeze(positions, self.ints(1)), "f32")
        angles = self.ops.transpose(self.ops.matmul(column, row, False, False), self.ints(0, 2, 1))
        both = self.ops.concat([angles, angles], -1)
        return [self.ops.unsqueeze(wave(both), self.ints(1)) for wave in (self.ops.cos, self.ops.sin)]

    def rotated(self, x, cos, sin):
        half = self.shape["head_dim"] // 2
        part = lambda start, stop: self.ops.slice(x, self.ints(start), self.ints(stop), self.ints(1), self.ints(3))
        upper = self.ops.multiply(part(half, 2**62), self.constant(np.float32([[[[-1]]]])))
        turned = self.ops.concat([upper, part(0, half)], -1)
        return self.ops.add(self.ops.multiply(x, cos), self.ops.multiply(turned, sin))

    def with_past(self, x, name):
        """The state with x appended, which becomes the new state."""
        kv_heads, width = self.shape["num_key_value_heads"], self.shape["head_dim"]
        info = VariableInfo()
        info.data_shape = self.ov.PartialShape([1, kv_heads, -1, width])
        info.data_type, info.variable_id = self.ov.Type.f32, name
        variable = Variable(info)
        empty = self.constant(np.zeros((1, kv_heads, 0, width), np.float32))
        past = self.ops.read_value(empty, variable)
        chosen = self.ops.gather(past, self.beams, self.ints(0))
        whole = self.ops.concat([chosen, x], 2)
        self.assigns.append(self.ops.assign(whole, variable))
        return whole

    def repeated(self, x):
        """Repeats each kv head for its query heads."""
        kv_heads, width = self.shape["num_key_value_heads"], self.shape["head_dim"]
        times = self.shape["num_attention_heads"] // kv_heads
        if times == 1:
            return x
        apart = self.ops.unsqueeze(x, self.ints(2))
        wide = self.ops.broadcast(apart, self.ints(1, 1, times, 1, 1), broadcast_spec="BIDIRECTIONAL")
        return self.ops.reshape(wide, self.ints(0, kv_heads * times, -1, width), True)

    def layer(self, number, x, cos, sin):
        name = f"model.layers.{number}."
        normed = self.norm(x, name + "input_layernorm.weight")
        n_heads, kv_heads = self.shape["num_attention_heads"], self.shape["num_key_value_heads"]
        query = self.rotated(self.heads(self.product(normed, name + "self_attn.q_proj.weight"), n_heads), cos, sin)
        key = self.rotated(self.heads(self.product(normed, name + "self_attn.k_proj.weight"), kv_heads), cos, sin)
        value = self.heads(self.product(normed, name + "self_attn.v_proj.weight"), kv_heads)
        key, value = self.with_past(key, f"key.{number}"), self.with_past(value, f"value.{number}")
        attended = self.ops.scaled_dot_product_attention(query, self.repeated(key), self.repeated(value), self.mask)
        flat = self.ops.reshape(self.ops.transpose(attended, self.ints(0, 2, 1, 3)),
                                self.ints(0, 0, n_heads * self.shape["head_dim"]), True)
        x = self.ops.add(x, self.product(flat, name + "self_attn.o_proj.weight"))
        normed = self.norm(x, name + "post_attention_layernorm.weight")
        gate = self.ops.swish(self.product(normed, name + "mlp.gate_proj.weight"))
        gated = self.ops.multiply(gate, self.product(normed, name + "mlp.up_proj.weight"))
        return self.ops.add(x, self.product(gated, name + "mlp.down_proj.weight"))

    def model(self):
        """Inputs: ids [1, s], their positions [1, s], mask [1, 1, s, past + s] with 0 or −∞, beams [1] with 0."""
        ids = self.ops.parameter([1, -1], self.ov.Type.i64, "ids")
        positions = self.ops.parameter([1, -1], self.ov.Type.i64, "positions")
        self.mask = self.ops.parameter([1, 1, -1, -1], self.ov.Type.f32, "mask")
        self.beams = self.ops.parameter([1], self.ov.Type.i32, "beams")
        table = self.wide(self.weights.matrix("model.embed_tokens.weight"))
        x = self.ops.gather(table, ids, self.ints(0))
        cos, sin = self.rotations(positions)
        for number in range(self.shape["num_hidden_layers"]):
            x = self.layer(number, x, cos, sin)
        x = self.norm(x, "model.norm.weight")
        last = self.ops.slice(x, self.ints(-1), self.ints(2**62), self.ints(1), self.ints(1))
        # Reuses the embedding table if the weights are tied.
        head = table if self.weights.tied else self.wide(self.weights.head())
        logits = self.ops.result(self.ops.matmul(last, head, False, True))
        return self.ov.Model([logits], self.assigns, [ids, positions, self.mask, self.beams], "llama")
