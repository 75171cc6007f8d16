"""The model as an ONNX file with ONNX Runtime's own ops: grouped-query attention over an in-place cache, quantised matrices.

One graph for prompts and single tokens: ids [1, s] with a cache of any number of positions, the logits of the last one.
"""
import pathlib

import numpy as np

from ..blocks import BLOCK, Blocks

MICROSOFT = "com.microsoft"
INT8_ACTIVATIONS = 4  # accuracy level of MatMulNBits: the fastest; llama.cpp does the same


def packed(blocks):
    """MatMulNBits' layout: unsigned quants; two neighbours per byte if they have four bits."""
    quants = (blocks.quants.astype(np.int16) + (1 << (blocks.bits - 1))).astype(np.uint8)
    return quants if blocks.bits == 8 else quants[:, :, 0::2] | quants[:, :, 1::2] << 4


class File:
    """Writes weights to one file beside the graph, one in memory at a time."""

    def __init__(self, onnx, folder):
        self.onnx, self.folder = onnx, folder
        folder.mkdir(parents=True, exist_ok=True)
        self.data = open(folder / "weights", "wb")
        self.tensors, self.nodes = [], []

    def weight(self, name, array):
        array = np.ascontiguousarray(array)
        tensor = self.onnx.TensorProto(name=name, dims=array.shape,
                                       data_type=self.onnx.helper.np_dtype_to_tensor_dtype(array.dtype),
                                       data_location=self.onnx.TensorProto.EXTERNAL)
        self.data.write(b"\0" * (-self.data.tell() % 64))
        for key, value in (("location", "weights"), ("offset", self.data.tell()), ("length", array.nbytes)):
            tensor.external_data.add(key=key, value=str(value))
        self.data.write(array.tobytes())
        self.tensors.append(tensor)
        return name

    def small(self, name, array):
        self.tensors.append(self.onnx.numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op, inputs, outputs, domain="", **attributes):
        outputs = [outputs] if isinstance(outputs, str) else outputs
        self.nodes.append(self.onnx.helper.make_node(op, inputs, outputs, domain=domain, **attributes))
        return outputs[0]

    def product(self, x, name, matrix, out):
        """x · matrixᵀ, the matrix [rows, columns]."""
        if isinstance(matrix, Blocks):
            rows, columns = len(matrix.quants), matrix.quants.shape[1] * BLOCK
            quants = self.weight(name + ".quants", packed(matrix))
            scales = self.weight(name + ".scales", matrix.scales.astype(np.float32).reshape(-1))
            return self.node("MatMulNBits", [x, quants, scales], out, MICROSOFT, K=columns, N=rows, bits=matrix.bits,
                             block_size=BLOCK, accuracy_level=INT8_ACTIVATIONS)
        return self.node("MatMul", [x, self.weight(name, matrix.T)], out)


def rotations(shape, length):
    half = shape["head_dim"] // 2
    frequencies = shape["rope_theta"] ** (-np.arange(half, dtype=np.float64) / half)
    angles = np.arange(length)[:, None] * frequencies
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def layer(file, weights, number, x, skip):
    """(the layer's output, the residual it is added to)"""
    shape = weights.shape
    name = f"model.layers.{number}."
    heads, kv_heads, width = shape["num_attention_heads"], shape["num_key_value_heads"], shape["head_dim"]
    at = lambda word: f"l{number}.{word}"

    def norm(word, of, skipped, total):
        scale = file.weight(name + word, weights.vector(f"{name}{word}.weight"))
        if skipped is None:
            return file.node("SimplifiedLayerNormalization", [of, scale], at(word), epsilon=shape["rms_norm_eps"],
                             axis=-1), of
        file.node("SkipSimplifiedLayerNormalization", [of, skipped, scale], [at(word), "", "", total], MICROSOFT,
                  epsilon=shape["rms_norm_eps"])
        return at(word), total

    def product(of, word):
        full = f"{name}{word}.weight"
        return file.product(of, full, weights.matrix(full), at(word))

    normed, x = norm("input_layernorm", x, skip, at("in"))
    query, key, value = (product(normed, f"self_attn.{part}_proj") for part in "qkv")
    attended = file.node(
        "GroupQueryAttention",
        [query, key, value, f"past.{number}.key", f"past.{number}.value", "seqlens_k", "total_length", "cos", "sin"],
        [at("attended"), f"present.{number}.key", f"present.{number}.value"], MICROSOFT, num_heads=heads,
        kv_num_heads=kv_heads, do_rotary=1, rotary_interleaved=0, scale=width**-0.5)
    normed, x = norm("post_attention_layernorm", product(attended, "self_attn.o_proj"), x, at("middle"))
    gate, up = product(normed, "mlp.gate_proj"), product(normed, "mlp.up_proj")
    sigmoid = file.node("Sigmoid", [gate], at("sigmoid"))
    silu = file.node("Mul", [gate, sigmoid], at("silu"))
    return product(file.node("Mul", [silu, up], at("gated")), "mlp.down_proj"), x


def write(onnx, folder, weights, positions):
    """`positions`: size of the rotation tables, the maximum of the cache's capacity."""
    shape, helper, kinds = weights.shape, onnx.helper, onnx.TensorProto
    file = File(onnx, folder)
    for name, table in zip(("cos", "sin"), rotations(shape, positions)):
        file.weight(name, table)
    x, skip = file.node("Gather", [file.weight("embedding", weights.embedding()), "input_ids"], "embedded"), None
    for number in range(shape["num_hidden_layers"]):
        added, base = layer(file, weights, number, x, skip)
        x, skip = added, base
    scale = file.weight("norm", weights.vector("model.norm.weight"))
    normed = file.node("SkipSimplifiedLayerNormalization", [x, skip, scale], "normed", MICROSOFT,
                       epsilon=shape["rms_norm_eps"])
    last = file.node("Slice", [normed, file.small("minus_one", np.array([-1])), file.small("end", np.array([2**62])),
                               file.small("axis", np.array([1]))], "last")
    file.product(last, "head", weights.head(), "logits")
    file.data.close()
    cache = [1, shape["num_key_value_heads"], "room", shape["head_dim"]]
    value = helper.make_tensor_value_info
    caches = [f"{number}.{part}" for number in range(shape["num_hidden_layers"]) for part in ("key", "value")]
    inputs = [value("input_ids", kinds.INT64, [1, "s"]), value("seqlens_k", kinds.INT32, [1]),
              value("total_length", kinds.INT32, [1])] + [value(f"past.{name}", kinds.FLOAT, cache) for name in caches]
    outputs = [value("logits", kinds.FLOAT, [1, 1, shape["vocab_size"]])]
    outputs += [value(f"present.{name}", kinds.FLOAT, cache) for name in caches]
    graph = helper.make_graph(file.nodes, "llama", inputs, outputs, file.tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)])
    model.ir_version = 9
    onnx.save(model, str(pathlib.Path(folder) / "model.onnx"))
