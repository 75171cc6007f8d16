"""A .pt2 archive of 1 GB opens at once and in little memory. Usage: large_archive.py PROGRAM

The file has 256 linear layers of 1024 × 1024 in f32, without elements on the disk (it is sparse), and a program of their calls
with PyTorch's stack traces. `luminal inspect` reads it, which imports the graph too. Its resident memory is compared with that of
`luminal --version`, which has the libraries alone. The medians of five runs are printed.
"""
import json
import os
import pathlib
import statistics
import struct
import sys
import tempfile
import time

from small_pt2 import F32, LENGTH, Archive, meta, node, stored, tensor

LAYERS, WIDTH = 256, 1024
MOST_SECONDS, MOST_BYTES = 1.0, 50 << 20
TRACE = "".join(f'  File "/home/user/project/model/file{k}.py", line {10 + k}, in forward\n    hidden = self.layers[{k}](hidden, mask)\n'
                for k in range(8))


def deep_program():
    archive = Archive()
    values, specs, config, nodes = {"x": meta(F32, [LENGTH, WIDTH])}, [], {}, []
    before = "x"
    for k in range(LAYERS):
        values[f"p_{k}"] = meta(F32, [WIDTH, WIDTH])
        values[f"linear_{k}"] = values[f"relu_{k}"] = meta(F32, [LENGTH, WIDTH])
        specs.append({"parameter": {"arg": {"name": f"p_{k}"}, "parameter_name": f"layers.{k}.weight"}})
        config[f"layers.{k}.weight"] = stored(f"weight_{k}", meta(F32, [WIDTH, WIDTH]))
        nodes += [node("aten.linear.default", [("input", tensor(before)), ("weight", tensor(f"p_{k}"))], f"linear_{k}"),
                  node("aten.relu.default", [("self", tensor(f"linear_{k}"))], f"relu_{k}")]
        before = f"relu_{k}"
    for each in nodes:
        each["metadata"]["stack_trace"] = TRACE
    archive.graph()["tensor_values"], archive.graph()["nodes"] = values, nodes
    archive.signature()["input_specs"] = [*specs, {"user_input": {"arg": tensor("x")}}]
    archive.give(before)
    archive.weights, archive.constants = {"config": config}, {"config": {}}
    parts = {name: content for name, content in archive.parts().items() if "_0" not in name and "weight_" not in name}
    return parts, [f"data/weights/weight_{k}" for k in range(LAYERS)]


def write_sparse(path, parts, holes, hole_size):
    """A zip archive with members of zeros, which take no room on the disk; members are aligned to 64 bytes."""
    directory = b""
    with open(path, "wb") as file:
        for name, content, size in [*((name, None, hole_size) for name in holes),
                                    *((name, content, len(content)) for name, content in parts.items())]:
            name = b"large/" + name.encode()
            at = file.tell()
            padding = -(at + 30 + len(name) + 4) % 64
            extra = struct.pack("<HH", 0x4246, padding) + b"\0" * padding
            fields = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 0, 0, size, size, len(name), len(extra))
            file.write(b"PK\3\4" + fields + name + extra)
            directory += b"PK\1\2" + struct.pack("<H", 20) + fields[:-2] + struct.pack("<HHHHII", 0, 0, 0, 0, 0, at) + name
            file.seek(size, os.SEEK_CUR) if content is None else file.write(content)
        at = file.tell()
        count = len(parts) + len(holes)
        file.write(directory + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), at, 0))


def run(command):
    """(seconds, resident bytes, output)"""
    out, into = os.pipe()
    start = time.monotonic()
    pid = os.fork()
    if pid == 0:
        os.dup2(into, 1)
        os.execv(command[0], command)
    os.close(into)
    with open(out) as pipe:
        output = pipe.read()
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"{command} ended with {os.waitstatus_to_exitcode(status)}: {output}")
    return time.monotonic() - start, usage.ru_maxrss * 1024, output


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "large.pt2"
        parts, holes = deep_program()
        write_sparse(path, parts, holes, 4 * WIDTH * WIDTH)
        size = path.stat().st_size
        runs = [run([program, "inspect", str(path), "--json"]) for _ in range(5)]
        base = statistics.median(run([program, "--version"])[1] for _ in range(5))
    listing = json.loads(runs[0][2])
    if (listing["runs_here"], listing["bytes"]) != (True, LAYERS * 4 * WIDTH * WIDTH):
        sys.exit(f"it is listed as {runs[0][2][:1000]}")
    seconds, resident = statistics.median(run[0] for run in runs), statistics.median(run[1] for run in runs)
    print(f"{size / 1e9:.2f} GB with a program of {len(parts['models/model.json']) / 1e6:.1f} MB: {seconds:.3f} s, "
          f"{(resident - base) / 2**20:.0f} MB resident beside {base / 2**20:.0f} MB of the program's libraries")
    return 0 if size > 1e9 and seconds <= MOST_SECONDS and resident - base <= MOST_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
