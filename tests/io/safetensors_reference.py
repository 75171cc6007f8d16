"""The other side of safetensors_test's comparison: `write` or `check` files in a folder."""
import json
import pathlib
import sys

try:
    import torch
    from safetensors import safe_open
    from safetensors.torch import load_file, save_file
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
          "i64": torch.int64, "i32": torch.int32, "i16": torch.int16, "i8": torch.int8,
          "u8": torch.uint8, "bool": torch.bool}


def pattern(dtype, dims):
    count = 1
    for dim in dims:
        count *= dim
    values = (torch.arange(count) * 2 + 3) % 5
    if dtype == torch.bool:
        values = values > 1
    return values.to(dtype).reshape(dims)


def every_dtype():
    tensors = {}
    for name, dtype in DTYPES.items():
        tensors[name] = pattern(dtype, [2, 3])
        tensors[name + ".empty"] = pattern(dtype, [0, 4])
        tensors[name + ".scalar"] = pattern(dtype, [])
    return tensors


def check(found):
    expected = every_dtype()
    assert found.keys() == expected.keys(), found.keys() ^ expected.keys()
    for name, tensor in expected.items():
        assert found[name].dtype == tensor.dtype, name
        assert found[name].shape == tensor.shape, name
        assert torch.equal(found[name], tensor), name


def main():
    mode, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    if mode == "write":
        save_file(every_dtype(), folder / "theirs.safetensors", metadata={"note": "grüße"})
        return
    check(load_file(folder / "ours.safetensors"))
    with safe_open(folder / "ours.safetensors", "pt") as file:
        assert file.metadata() == {"note": "grüße"}
    index = json.loads((folder / "sharded/model.safetensors.index.json").read_text())
    merged = {}
    for shard in sorted(set(index["weight_map"].values())):
        tensors = load_file(folder / "sharded" / shard)
        assert all(index["weight_map"][name] == shard for name in tensors)
        merged |= tensors
    check(merged)
    assert index["metadata"]["total_size"] == sum(t.nbytes for t in merged.values())


main()
