"""A small .pt2 archive from plain values, without PyTorch: what tests damage, and seeds of fuzzing."""
import copy
import io
import json
import struct
import warnings
import zipfile

F32, I64, BOOL = 7, 5, 12
ROOT = "small/"
LENGTH = "Symbol('s77', positive=True, integer=True)"
TRACE = '  File "/home/user/model.py", line 12, in forward\n    y = self.first(x)\n'


def size(value):
    return {"as_expr": {"expr_str": value, "hint": {"as_int": 5}}} if isinstance(value, str) else {"as_int": value}


def meta(dtype, sizes, strides=None, offset=0):
    """Strides in elements; row-major ones if none are given."""
    if strides is None:
        strides, step = [], 1
        for dim in reversed(sizes):
            strides.insert(0, step)
            step *= dim if isinstance(dim, int) else 1
    return {"dtype": dtype, "sizes": [size(dim) for dim in sizes], "requires_grad": False,
            "device": {"type": "cpu", "index": None}, "strides": [size(each) for each in strides],
            "storage_offset": size(offset), "layout": 7}


def tensor(name):
    return {"as_tensor": {"name": name}}


def node(target, inputs, *outputs):
    return {"target": f"torch.ops.{target}" if target.startswith("aten") else target,
            "inputs": [{"name": name, "arg": argument, "kind": 1} for name, argument in inputs],
            "outputs": [tensor(name) for name in outputs],
            "metadata": {"stack_trace": TRACE, "nn_module_stack": "L['self'],,model.Model;L['self'].first,first,torch.nn.Linear"}}


def program():
    """forward(x) of (x @ weight.T + bias) * scale + shift, with 2 to 64 rows."""
    rows = [LENGTH, 3]
    return {
        "graph_module": {
            "graph": {
                "inputs": [tensor(name) for name in ("p_weight", "p_bias", "b_scale", "c_shift", "x")],
                "outputs": [tensor("add")],
                "nodes": [
                    node("aten.linear.default", [("input", tensor("x")), ("weight", tensor("p_weight")), ("bias", tensor("p_bias"))],
                         "linear"),
                    node("aten.mul.Tensor", [("self", tensor("linear")), ("other", tensor("b_scale"))], "mul"),
                    node("aten.add.Tensor", [("self", tensor("mul")), ("other", tensor("c_shift"))], "add")],
                "tensor_values": {"p_weight": meta(F32, [3, 4]), "p_bias": meta(F32, [3]), "b_scale": meta(F32, []),
                                  "c_shift": meta(F32, [3]), "x": meta(F32, [LENGTH, 4]), "linear": meta(F32, rows),
                                  "mul": meta(F32, rows), "add": meta(F32, rows)},
                "sym_int_values": {}, "sym_bool_values": {}, "is_single_tensor_return": False, "custom_obj_values": {},
                "sym_float_values": {}},
            "signature": {
                "input_specs": [
                    {"parameter": {"arg": {"name": "p_weight"}, "parameter_name": "weight"}},
                    {"parameter": {"arg": {"name": "p_bias"}, "parameter_name": "bias"}},
                    {"buffer": {"arg": {"name": "b_scale"}, "buffer_name": "scale", "persistent": True}},
                    {"tensor_constant": {"arg": {"name": "c_shift"}, "tensor_constant_name": "shift"}},
                    {"user_input": {"arg": tensor("x")}}],
                "output_specs": [{"user_output": {"arg": tensor("add")}}]},
            "module_call_graph": [], "metadata": {}, "treespec_namedtuple_fields": {}},
        "opset_version": {"aten": 10}, "range_constraints": {"s77": {"min_val": 2, "max_val": 64}},
        "schema_version": {"major": 8, "minor": 20}, "verifiers": ["TRAINING"], "torch_version": "2.13.0", "guards_code": []}


def stored(path, tensor_meta):
    return {"path_name": path, "is_param": True, "use_pickle": False, "tensor_meta": tensor_meta}


def weights():
    return {"config": {"weight": stored("weight_0", meta(F32, [3, 4], [1, 3])), "bias": stored("weight_1", meta(F32, [3])),
                       "scale": stored("weight_2", meta(F32, []))}}


def constants():
    return {"config": {"shift": stored("tensor_0", meta(F32, [3]))}}


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


class Archive:
    """The parts of a good archive, to be changed. `members` replaces or, with None, leaves out."""

    def __init__(self):
        self.program, self.weights, self.constants, self.members = program(), weights(), constants(), {}

    def nodes(self):
        return self.program["graph_module"]["graph"]["nodes"]

    def graph(self):
        return self.program["graph_module"]["graph"]

    def signature(self):
        return self.program["graph_module"]["signature"]

    def call(self, target, inputs, *outputs):
        """Adds a call, whose last result becomes the output."""
        self.nodes().append(node(target, inputs, *outputs))
        if outputs:
            self.give(outputs[-1])

    def give(self, name):
        self.signature()["output_specs"] = [{"user_output": {"arg": tensor(name)}}]

    def parts(self):
        """Members by name, in the order of PyTorch's."""
        def text(value):
            return value if isinstance(value, bytes) else json.dumps(value).encode()

        parts = {"archive_format": b"pt2", "models/model.json": text(self.program), "archive_version": b"0",
                 "byteorder": b"little", ".data/version": b"6",
                 "data/weights/model_weights_config.json": text(self.weights),
                 "data/weights/weight_0": floats(*range(12)), "data/weights/weight_1": floats(1, 2, 3),
                 "data/weights/weight_2": floats(0.5), "data/constants/model_constants_config.json": text(self.constants),
                 "data/constants/tensor_0": floats(10, 20, 30)}
        parts |= copy.copy(self.members)
        return {name: content for name, content in parts.items() if content is not None}

    def bytes(self, root=ROOT):
        return zipped([(root + name, content) for name, content in self.parts().items()])


def zipped(members, compression=zipfile.ZIP_STORED):
    """Names may be there twice."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", compression) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=compression)
    return written.getvalue()
