"""PyTorch's OpInfo entries through the importer: every sample, and its twin with strides, against eager and f64.

  opinfo.py [--package FOLDER] [--dtypes f32,bf16] [--only REGEX] [--samples N] [--jobs 2] [--seconds 60] [--backend cpu]
            [--json FILE] [--markdown FILE] [--targets]

Each sample is recorded below autograd, as operators that PyTorch dispatches, written as a .pt2 program, imported, compiled
and run. Integers and bools must be equal to eager's. Floats may be as far from the f64 result as twice eager's error, and a
tolerance of the dtype. A verdict is of all samples of an entry: passes, refused (with the reason), or wrong.
`--targets` only counts the operators of each entry. Ends with 1 if anything is wrong.
"""
import argparse
import collections
import io
import json
import math
import multiprocessing
import multiprocessing.connection
import os
import pathlib
import re
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zipfile

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

warnings.filterwarnings("ignore")

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "f64": torch.float64}
NUMBERS = {
    torch.uint8: 1, torch.int8: 2, torch.int16: 3, torch.int32: 4, torch.int64: 5, torch.float16: 6, torch.float32: 7,
    torch.float64: 8, torch.complex32: 9, torch.complex64: 10, torch.complex128: 11, torch.bool: 12, torch.bfloat16: 13,
    torch.uint16: 28, torch.float8_e4m3fn: 29, torch.float8_e5m2: 30,
}
# Relative and absolute, as torch.testing.assert_close has them.
TOLERANCES = {torch.float64: (1e-7, 1e-7), torch.float32: (1.3e-6, 1e-5), torch.bfloat16: (1.6e-2, 1e-5), torch.float16: (1e-3, 1e-5)}
# Their elements are whatever was in memory: only dims and dtypes are compared.
UNDEFINED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
# Of equal elements these may choose any: what counts is the element, so their indices are compared by it.
CHOOSE_AMONG_EQUAL = {"topk", "kthvalue", "median", "nanmedian"}
READS_A_VALUE = {"aten._local_scalar_dense.default", "aten.equal.default", "aten.is_nonzero.default"}


class Refused(Exception):
    """A sample that can't be a graph, for a named reason."""


def target_of(function):
    return f"{function.namespace}.{function._schema.name.split('::')[1]}.{function._overloadname}"


class Recorder(TorchDispatchMode):
    """The operators that a function dispatches, as nodes of a .pt2 program."""

    def __init__(self, inputs):
        super().__init__()
        self.names, self.kept, self.inputs, self.values, self.nodes = {}, [], [], {}, []
        for each in inputs:
            self.add_input(each)

    def add_input(self, tensor):
        name = f"x{len(self.inputs)}"
        self.inputs.append(tensor)
        self.hold(tensor, name)
        return name

    def hold(self, tensor, name):
        if tensor.layout != torch.strided or tensor.is_quantized:
            raise Refused(f"layout {tensor.layout}")
        if tensor.is_conj() or tensor.is_neg():
            raise Refused("a view that conjugates or negates")
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            raise Refused(f"a tensor of {type(tensor).__name__}")
        self.kept.append(tensor)
        self.names[id(tensor)] = name
        self.values[name] = {"dtype": NUMBERS.get(tensor.dtype, 0), "sizes": [{"as_int": n} for n in tensor.shape]}

    def tensor(self, tensor):
        name = self.names.get(id(tensor))
        return {"name": name if name is not None else self.add_input(tensor.detach() if tensor.requires_grad else tensor)}

    def argument(self, value):
        if value is None:
            return {"as_none": True}
        if isinstance(value, torch.Tensor):
            return {"as_tensor": self.tensor(value)}
        if isinstance(value, bool):
            return {"as_bool": value}
        if isinstance(value, int):
            return {"as_int": int(value)}
        if isinstance(value, float):
            return {"as_float": self.real(value)}
        if isinstance(value, complex):
            raise Refused("complex numbers")
        if isinstance(value, str):
            return {"as_string": value}
        if isinstance(value, torch.dtype):
            return {"as_scalar_type": NUMBERS.get(value, 0)}
        if isinstance(value, torch.device):
            return {"as_device": {"type": value.type}}
        if isinstance(value, torch.memory_format):
            return {"as_memory_format": 1}
        if isinstance(value, torch.layout):
            return {"as_layout": 7}
        if isinstance(value, (list, tuple)):
            return self.list(value)
        raise Refused(f"an argument of {type(value).__name__}")

    @staticmethod
    def real(value):
        return "NaN" if math.isnan(value) else value if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"

    def list(self, values):
        if any(isinstance(each, torch.Tensor) for each in values):
            if all(isinstance(each, torch.Tensor) for each in values):
                return {"as_tensors": [self.tensor(each) for each in values]}
            return {"as_optional_tensors": [self.argument(each) for each in values]}
        if any(isinstance(each, float) for each in values):
            return {"as_floats": [self.real(float(each)) for each in values]}
        if values and all(isinstance(each, bool) for each in values):
            return {"as_bools": list(values)}
        if any(not isinstance(each, int) for each in values):
            if all(each is None for each in values):
                return {"as_optional_tensors": [{"as_none": True} for _ in values]}
            raise Refused("a list of other things than numbers and tensors")
        return {"as_ints": [int(each) for each in values]}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        target = target_of(function)
        if target in READS_A_VALUE:
            raise Refused(f"{target}: reads the value of a tensor")
        inputs = []
        parameters = [each.name for each in function._schema.arguments]
        for name, value in [*zip(parameters, args), *kwargs.items()]:
            inputs.append({"name": name, "arg": self.argument(value)})
        result = function(*args, **kwargs)
        self.nodes.append({"target": "torch.ops." + target, "inputs": inputs, "outputs": self.results(function, result), "metadata": {}})
        return result

    def results(self, function, result):
        outputs = []
        for item in result if isinstance(result, tuple) else (result,):
            if isinstance(item, torch.Tensor):
                # An operator in place gives a tensor that has a name: it has another one from here on.
                name = f"t{len(self.kept)}"
                self.hold(item, name)
                outputs.append({"as_tensor": {"name": name}})
            elif isinstance(item, (list, tuple)):
                names = []
                for each in item:
                    names.append({"name": f"t{len(self.kept)}"})
                    self.hold(each, names[-1]["name"])
                outputs.append({"as_tensors": names})
            elif item is not None:
                raise Refused(f"{target_of(function)}: gives {type(item).__name__}")
        return outputs or [{"as_none": True}]

    def program(self, outputs):
        specs = [{"user_input": {"arg": {"as_tensor": {"name": f"x{i}"}}}} for i in range(len(self.inputs))]
        results = [{"user_output": {"arg": {"as_tensor": self.tensor(each)}}} for each in outputs]
        specs += [{"user_input": {"arg": {"as_tensor": {"name": f"x{i}"}}}} for i in range(len(specs), len(self.inputs))]
        return json.dumps({
            "schema_version": {"major": 8, "minor": 0}, "range_constraints": {},
            "graph_module": {
                "graph": {"nodes": self.nodes, "tensor_values": self.values,
                          "sym_int_values": {}},
                "signature": {"input_specs": specs, "output_specs": results}}})


def write_pt2(path, program):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in (("archive_format", "pt2"), ("archive_version", "0"), ("byteorder", "little"), ("models/model.json", program)):
            archive.writestr("sample/" + name, text)
    path.write_bytes(content.getvalue())


def tensors_of(value):
    flat = pytree.tree_leaves(value)
    for each in flat:
        if not isinstance(each, torch.Tensor) and each is not None:
            raise Refused(f"gives {type(each).__name__}")
    return [each for each in flat if each is not None]


def widened(value):
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.double()
    return torch.float64 if value in (torch.float32, torch.bfloat16, torch.float16) else value


def called(op, sample):
    return op(sample.input, *sample.args, **sample.kwargs)


def cloned(sample):
    """With memory of its own, as far as strides go: an operator in place mustn't change the next sample."""
    return sample.transform(lambda each: each.detach() if isinstance(each, torch.Tensor) else each)


def difference(ours, eager, wide):
    """What is wrong of one result, or None."""
    if ours.dtype != eager.dtype:
        return f"dtype {ours.dtype} instead of {eager.dtype}"
    if ours.shape != eager.shape:
        return f"dims {list(ours.shape)} instead of {list(eager.shape)}"
    if eager.numel() == 0:
        return None
    if not eager.is_floating_point():
        return None if torch.equal(ours, eager) else f"{int((ours != eager).sum())} of {eager.numel()} integers or bools differ"
    a, b = ours.double(), eager.double()
    c = b if wide is None or wide.shape != b.shape else wide.double()
    special = ~torch.isfinite(b)
    same = (a == b) | (a.isnan() & b.isnan())
    if not bool(same[special].all()):
        return f"{int((~same & special).sum())} of {eager.numel()} are finite where eager's aren't, or other than eager's"
    usual = ~special
    c = torch.where(torch.isfinite(c), c, b)
    if bool((usual & ~torch.isfinite(a)).any()):
        return f"{int((usual & ~torch.isfinite(a)).sum())} of {eager.numel()} aren't finite where eager's are"
    relative, absolute = TOLERANCES[eager.dtype]
    error = torch.where(usual, (a - c).abs(), 0)
    eagers = float(torch.where(usual, (b - c).abs(), 0).max())
    excess = error - (2 * eagers + absolute + relative * c.abs())
    excess = torch.where(usual & ~same, excess, -1)
    if not bool((excess > 0).any()):
        return None
    at = int(excess.argmax())
    return f"{a.flatten()[at]:.9g} instead of {b.flatten()[at]:.9g} (f64: {c.flatten()[at]:.9g}; eager's largest error {eagers:.3g})"


class Entry:
    """The samples of one OpInfo entry in one dtype."""

    def __init__(self, op, dtype, options):
        self.op, self.dtype, self.options = op, dtype, options
        self.compiled, self.reasons, self.wrong = {}, collections.Counter(), []
        self.targets = collections.Counter()
        self.passed = self.samples = 0

    def run(self, folder):
        torch.manual_seed(7)
        for number, sample in enumerate(self.op.sample_inputs("cpu", self.dtype, requires_grad=False)):
            if self.options.samples and number >= self.options.samples:
                break
            torch.manual_seed(7)
            self.try_sample(cloned(sample), folder)
            torch.manual_seed(7)
            try:
                strided = sample.noncontiguous()
            except Exception:  # noqa: BLE001  (of a sample without such a twin)
                continue
            self.try_sample(cloned(strided), folder)

    def try_sample(self, sample, folder):
        try:
            with torch.no_grad():
                eager = called(self.op, sample)
        except Exception:  # noqa: BLE001  (PyTorch itself lacks it)
            return
        self.samples += 1
        try:
            found = self.sample_difference(sample, eager, folder)
        except Refused as why:
            self.reasons[str(why)] += 1
            return
        if found is None:
            self.passed += 1
        else:
            shown = sample.summary() if len(str(sample.summary())) < 300 else str(sample.summary())[:300]
            self.wrong.append(f"{found} of {shown}")

    def recorded(self, sample):
        inputs = [each for each in pytree.tree_leaves((sample.input, sample.args, sample.kwargs)) if isinstance(each, torch.Tensor)]
        # The same tensor twice is one input.
        inputs = list({id(each): each for each in inputs}.values())
        recorder = Recorder(inputs)
        versions = [each._version for each in inputs]
        with torch.no_grad(), recorder:
            result = called(self.op, sample)
            outputs = tensors_of(result)
        for node in recorder.nodes:
            self.targets[node["target"][10:]] += 1
        if versions != [each._version for each in inputs]:
            raise Refused("writes to its input")
        return recorder, recorder.program(outputs)

    def sample_difference(self, sample, eager, folder):
        recorder, program = self.recorded(sample)
        if self.options.targets:
            return None
        if self.targets_are_random(recorder):
            raise Refused("random numbers")
        run = self.executable(program, folder)
        found = run(*recorder.inputs)
        found = [torch.from_dlpack(each) for each in (found if isinstance(found, tuple) else (found,))]
        expected = tensors_of(eager)
        if len(found) != len(expected):
            return f"{len(found)} results instead of {len(expected)}"
        if self.op.name in UNDEFINED:
            shapes = [[(each.shape, each.dtype) for each in all_] for all_ in (found, expected)]
            return None if shapes[0] == shapes[1] else "other dims or dtypes"
        if self.op.name in CHOOSE_AMONG_EQUAL and len(expected) == 2:
            found[1] = self.index_by_element(sample, found[1], expected[1])
        if self.op.name in ("sort", "argsort") and not sample.kwargs.get("stable"):
            found[-1] = self.index_by_element(sample, found[-1], expected[-1])
        wide = self.wide_results(sample, len(expected))
        for ours, theirs, reference in zip(found, expected, wide):
            problem = difference(ours, theirs, reference)
            if problem is not None:
                return problem
        return None

    def index_by_element(self, sample, ours, theirs):
        """Their indices where ours name an equal element."""
        place = {"topk": 1, "kthvalue": 1}.get(self.op.name, 0)
        axis = sample.kwargs.get("dim", sample.args[place] if len(sample.args) > place else -1)
        x = sample.input
        if x.dim() == 0 or ours.shape != theirs.shape:
            return ours
        if ours.dim() != x.dim():
            return self.index_by_element_kept(x, axis, ours, theirs)
        return self.equal_elements(x, axis, ours, theirs)

    def index_by_element_kept(self, x, axis, ours, theirs):
        return self.equal_elements(x, axis, ours.unsqueeze(axis), theirs.unsqueeze(axis)).squeeze(axis)

    @staticmethod
    def equal_elements(x, axis, ours, theirs):
        if not bool(((ours >= 0) & (ours < x.shape[axis])).all()):
            return ours
        a, b = x.gather(axis, ours), x.gather(axis, theirs)
        return torch.where((a == b) | (a.isnan() & b.isnan()), theirs, ours)

    @staticmethod
    def targets_are_random(recorder):
        for node in recorder.nodes:
            _, name, overload = node["target"][10:].split(".")[-3:]
            function = getattr(getattr(torch.ops.aten, name, None), overload, None) if "aten." in node["target"] else None
            if function is not None and torch.Tag.nondeterministic_seeded in function.tags:
                return True
        return False

    def wide_results(self, sample, count):
        try:
            with torch.no_grad():
                results = tensors_of(called(self.op, sample.transform(widened)))
        except Exception:  # noqa: BLE001  (there is no f64 form: eager's is the reference)
            results = []
        return results if len(results) == count else [None] * count

    def executable(self, program, folder):
        import luminal as lm
        found = self.compiled.get(program)
        if found is None:
            path = pathlib.Path(folder) / "sample.pt2"
            write_pt2(path, program)
            try:
                imported = lm.import_pt2(path)
                found = lm.compile(imported.graph, backend=self.options.backend, threads=1)
            except lm.UserError as why:
                found = Refused(reason_of(str(why)))
            self.compiled[program] = found
        if isinstance(found, Refused):
            raise found
        return found

    def verdict(self):
        word = "wrong" if self.wrong else "refused" if self.reasons else "passes" if self.samples else "no samples"
        return {"entry": name_of(self.op), "verdict": word, "samples": self.samples, "passed": self.passed,
                "reasons": dict(self.reasons.most_common()), "wrong": self.wrong[:20], "targets": dict(self.targets)}


def reason_of(message):
    message = re.sub(r"^.*?sample\.pt2: ", "", message)
    message = re.sub(r"^models/model\.json: ", "", message)
    return re.sub(r"'?\b[xt]\d+\b'?", "a tensor", message)[:200]


def name_of(op):
    return op.name + ("." + op.variant_test_name if op.variant_test_name else "")


def child(op, dtype, options, pipe):
    with tempfile.TemporaryDirectory() as folder:
        entry = Entry(op, dtype, options)
        started = time.monotonic()
        signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError()))
        signal.alarm(options.seconds)
        try:
            entry.run(folder)
        except TimeoutError:
            entry.reasons[f"not finished in {options.seconds} s"] += 1
        except Exception:  # noqa: BLE001  (an error of ours that is no refusal)
            entry.wrong.append(traceback.format_exc()[-600:])
        signal.alarm(0)
        pipe.send({**entry.verdict(), "seconds": round(time.monotonic() - started, 2)})
        pipe.close()


def run_all(work, options):
    """Each entry in a process of its own, `jobs` at once; a crash is a verdict too."""
    context, running, done = multiprocessing.get_context("fork"), {}, []
    work = list(reversed(work))
    while work or running:
        while work and len(running) < options.jobs:
            op, dtype_name = work.pop()
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=child, args=(op, DTYPES[dtype_name], options, theirs))
            process.start()
            theirs.close()
            running[ours] = (process, name_of(op), dtype_name, time.monotonic())
        for pipe in multiprocessing.connection.wait(list(running), timeout=1):
            process, name, dtype_name, _ = running.pop(pipe)
            try:
                result = pipe.recv()
            except EOFError:
                result = None
            process.join()
            if result is None:
                result = {"entry": name, "verdict": "wrong", "samples": 0, "passed": 0, "reasons": {}, "targets": {}, "seconds": 0,
                          "wrong": [f"the process ended with {process.exitcode}"]}
            done.append({**result, "dtype": dtype_name})
            if result["verdict"] == "wrong":
                print(f"wrong: {result['entry']} {dtype_name}: {result['wrong'][0]}", flush=True)
        for pipe, (process, *_, started) in list(running.items()):
            if time.monotonic() - started > 2 * options.seconds:
                os.kill(process.pid, signal.SIGKILL)
    return sorted(done, key=lambda each: (each["dtype"], each["entry"]))


def totals(done):
    counts = collections.defaultdict(collections.Counter)
    for each in done:
        counts[each["dtype"]][each["verdict"]] += 1
    return counts


def markdown(done):
    lines = ["# OpInfo", "", "| dtype | entries | pass | refused | wrong |", "|---|---|---|---|---|"]
    for dtype, count in totals(done).items():
        lines.append(f"| {dtype} | {sum(count.values())} | {count['passes']} | {count['refused']} | {count['wrong']} |")
    lines += ["", "| entry | dtype | verdict | samples | first reason |", "|---|---|---|---|---|"]
    for each in done:
        why = (each["wrong"] or list(each["reasons"]) or [""])[0].replace("|", "\\|").replace("\n", " ")
        lines.append(f"| {each['entry']} | {each['dtype']} | {each['verdict']} | {each['passed']}/{each['samples']} | {why} |")
    return "\n".join(lines) + "\n"


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=pathlib.Path, help="the folder of the package (default: as Python finds it)")
    parser.add_argument("--dtypes", default="f32,bf16")
    parser.add_argument("--only", default="", help="a pattern that an entry's whole name must match")
    parser.add_argument("--samples", type=int, default=0, help="at most this many of each entry (default: all)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=60, help="time limit of an entry")
    parser.add_argument("--backend", default="cpu", choices=("cpu", "interp"))
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--targets", action="store_true", help="only record, and say which operators there are")
    return parser.parse_args()


def main():
    options = parsed()
    torch.set_num_threads(1)
    if options.package:
        sys.path.insert(0, str(options.package))
    from torch.testing._internal.common_methods_invocations import op_db
    if not options.targets:
        import luminal  # noqa: F401  (once, before the forks)
    work = [(op, name) for name in options.dtypes.split(",") for op in op_db
            if DTYPES[name] in op.supported_dtypes("cpu") and re.fullmatch(options.only or ".*", name_of(op))]
    started = time.monotonic()
    done = run_all(work, options)
    for dtype, count in totals(done).items():
        print(f"{dtype}: {sum(count.values())} entries: {count['passes']} pass, {count['refused']} refused, "
              f"{count['wrong']} wrong, {count['no samples']} without samples")
    print(f"{sum(each['samples'] for each in done)} samples in {time.monotonic() - started:.0f} s")
    reasons = collections.Counter(why for each in done for why in each["reasons"])
    for why, count in reasons.most_common(60):
        print(f"{count:4} {why}")
    if options.json:
        options.json.write_text(json.dumps(done, indent=1))
    if options.markdown:
        options.markdown.write_text(markdown(done))
    return 1 if any(each["verdict"] == "wrong" for each in done) else 0


if __name__ == "__main__":
    sys.exit(main())
