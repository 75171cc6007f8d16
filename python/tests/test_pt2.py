"""`.pt2` files against torch: the same results at several sizes, exported as they are and decomposed."""
import contextlib
import json
import pathlib
import tempfile
import unittest
import zipfile

import numpy
import torch
from torch import nn
from torch.export import Dim, export, save

import luminal as lm

functional = torch.nn.functional


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.second = nn.Linear(8, 16), nn.LayerNorm(16), nn.Linear(16, 4)

    def forward(self, x):
        return self.second(self.norm(functional.gelu(self.first(x)))).softmax(-1)


class Attention(nn.Module):
    """A decoder layer: rotary positions, grouped heads, a causal mask, SwiGLU, RMS norms."""

    def __init__(self, width=32, heads=4, groups=2):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.q, self.o = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, groups * self.size, bias=False)
        self.v = nn.Linear(width, groups * self.size, bias=False)
        self.gate, self.up = nn.Linear(width, 48, bias=False), nn.Linear(width, 48, bias=False)
        self.down, self.scale = nn.Linear(48, width, bias=False), nn.Parameter(torch.rand(width))
        self.register_buffer("frequencies", 1 / 10000 ** (torch.arange(0, self.size, 2) / self.size), persistent=False)

    def rms(self, x):
        wide = x.float()
        return self.scale * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)

    def rotated(self, x, cos, sin):
        half = x.shape[-1] // 2
        return x * cos + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sin

    def forward(self, x):
        batch, length, _ = x.shape
        y = self.rms(x)
        q = self.q(y).view(batch, length, self.heads, self.size).transpose(1, 2)
        k = self.k(y).view(batch, length, self.groups, self.size).transpose(1, 2)
        v = self.v(y).view(batch, length, self.groups, self.size).transpose(1, 2)
        angles = torch.outer(torch.arange(length, device=x.device).float(), self.frequencies)
        angles = torch.cat((angles, angles), dim=-1)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        q, k = self.rotated(q, cos, sin), self.rotated(k, cos, sin)
        k = k[:, :, None].expand(batch, self.groups, self.heads // self.groups, length, self.size)
        v = v[:, :, None].expand(batch, self.groups, self.heads // self.groups, length, self.size)
        k, v = k.reshape(batch, self.heads, length, self.size), v.reshape(batch, self.heads, length, self.size)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(batch, length, -1))
        y = self.rms(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.layers = nn.Embedding(50, 32), nn.ModuleList([Attention(), Attention()])
        self.head = nn.Linear(32, 50, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(x[:, -1:])


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.deep, self.wide = nn.Conv2d(8, 8, 3, stride=2, padding=1, groups=8), nn.Conv2d(8, 16, 1)
        self.last = nn.Linear(16, 5)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.norm(self.first(x))), 2)
        x = functional.adaptive_avg_pool2d(functional.hardswish(self.wide(self.deep(x))), 1)
        return self.last(torch.flatten(x, 1))


class InPlace(nn.Module):
    """Writes in place, through views too, and to a buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x):
        y = x * 2
        y.add_(1)
        y[:, 1:3].mul_(10)
        y[0].fill_(-1)
        row = y.t()[2]
        row.sub_(0.5)
        self.count[1:].add_(y.sum())
        return y, self.count * 1, row


class Indexing(nn.Module):
    def forward(self, x, index):
        rows = x[index]
        columns = x[:, index]
        both = x[index, index.flip(0)]
        put = x.clone()
        put[:, index] = 7.0
        best = x.max(dim=1)
        return rows, columns, both, put, best.values, best.indices, torch.where(x > 0, x, x.abs()).cumsum(1)


class Numbers(nn.Module):
    def forward(self, x):
        n = x.shape[0]
        half = x[1:]
        grid = torch.arange(n).float()[:, None] + torch.arange(0, 3, dtype=torch.float32)
        return half, grid * n, x.new_zeros(n, 2), torch.full((n * 2 - 1,), 3), n * 3


class Dtypes(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.tensor(2.5))

    def forward(self, x, k):
        return x * self.scale, (x + 1).to(torch.int32) // 2, k.float() / 3, k % 3 == 1, (k & 5) | 2, x.to(torch.float64).mean()


class Detached(nn.Module):
    """Has a part without gradients, which torch exports as a graph of its own, and calls whose results nothing needs."""

    def forward(self, x, mask):
        with torch.no_grad():
            scale, same = (x * mask).abs().amax(-1, keepdim=True), x
        torch.rand([])
        return x / scale + mask, same


class Chunks(nn.Module):
    """Pads to a multiple of a chunk's length, as models of states do."""

    def forward(self, x):
        n = x.shape[0]
        missing = (4 - n % 4) % 4
        padded = functional.pad(x, (0, 0, 0, missing))
        chunks = padded.reshape(-1, 4, 6)
        return chunks.cumsum(1).reshape(-1, 6)[:n], padded.view((n + missing) // 4, 4, 2, 3).sum(-1), chunks[:, -1]


class Quarters(nn.Module):
    """Takes only lengths that are multiples of 4."""

    def forward(self, x):
        return x.reshape(x.shape[0], -1, 4, 6).cumsum(2).reshape(x.shape) * (x.shape[1] // 4)


class OneChunk(nn.Module):
    """Takes chunks one by one, of which there is one: a guard says so, and no bound."""

    def forward(self, x):
        n = x.shape[0]
        missing = (32 - n % 32) % 32
        chunks = functional.pad(x, (0, 0, 0, missing)).reshape(-1, 32, 6)
        sums = torch.zeros_like(chunks)
        for i in range((n + missing) // 32):
            sums[i] = chunks[i].cumsum(0)
        return sums.reshape(-1, 6)[:n]


class Strided(nn.Module):
    """Gives tensors other strides."""

    def forward(self, x):
        y = (x + 1).transpose(1, 2)
        same = y.as_strided(y.shape, y.stride())
        return same, y.as_strided((4, 5), (3, 2)), y.mean((0, 2), keepdim=True).as_strided((6, 2), (1, 0), 1)


BATCH = {0: Dim("batch", min=1, max=64)}
CASES = {
    "perceptron": (Perceptron, lambda n: (torch.randn(n, 8),), (BATCH,)),
    "attention": (Attention, lambda n: (torch.randn(2, n, 32),), ({1: Dim("length", min=2, max=64)},)),
    "decoder": (Decoder, lambda n: (torch.randint(0, 50, (1, n)),), ({1: Dim("length", min=2, max=64)},)),
    "convolutions": (Convolutions, lambda n: (torch.randn(n, 3, 16, 16),), (BATCH,)),
    "in place": (InPlace, lambda n: (torch.randn(n, 4),), ({0: Dim("batch", min=2, max=64)},)),
    "indexing": (Indexing, lambda n: (torch.randn(6, 6), torch.randint(-6, 6, (n,))), ({}, BATCH)),
    "numbers": (Numbers, lambda n: (torch.randn(n + 1, 3),), ({0: Dim("batch", min=3, max=64)},)),
    "chunks": (Chunks, lambda n: (torch.randn(n, 6),), ({0: Dim.AUTO},)),
    "quarters": (Quarters, lambda n: (torch.randn(n, 4 * n, 6),), ({0: Dim.AUTO, 1: Dim.AUTO},)),
    "one chunk": (OneChunk, lambda n: (torch.randn(n, 6),), ({0: Dim.AUTO},)),
    "strided": (Strided, lambda n: (torch.randn(n, 3, 7),), ({0: Dim("batch", min=2, max=64)},)),
    "detached": (Detached, lambda n: (torch.randn(n, 4), torch.rand(n, 1)), ({0: Dim.AUTO}, {0: Dim.AUTO})),
    "dtypes": (Dtypes, lambda n: (torch.randn(n, 3), torch.randint(0, 9, (n,))), (BATCH, BATCH)),
}


def results_of(value):
    if isinstance(value, (tuple, list)):
        return [each for item in value for each in results_of(item)]
    return [value]


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "model.pt2"
        torch.manual_seed(1)

    def saved(self, program):
        save(program, self.path)
        return lm.import_pt2(self.path)

    def check(self, imported, model, make, tolerance, also=()):
        run = lm.compile(imported.graph)
        for size in (3, 2, 17, 3, *also):
            arguments = make(size)
            expected = results_of(model(*(each.clone() for each in arguments)))
            found = results_of(run(*arguments))
            self.assertEqual(len(found), len(expected))
            for ours, theirs in zip(found, expected):
                theirs = torch.as_tensor(theirs)
                ours = torch.from_dlpack(ours)
                self.assertEqual((tuple(ours.shape), ours.dtype), (tuple(theirs.shape), theirs.dtype))
                torch.testing.assert_close(ours, theirs.detach(), rtol=tolerance, atol=tolerance)

    def test_models_give_what_torch_gives(self):
        for name, (kind, make, dynamic) in CASES.items():
            with self.subTest(name):
                model = kind().eval()
                program = export(model, make(5), dynamic_shapes=dynamic)
                self.check(self.saved(program), kind().eval() if name == "in place" else model, make, 2e-5)

    def test_decomposed_programs_too(self):
        for name, (kind, make, dynamic) in CASES.items():
            with self.subTest(name):
                model = kind().eval()
                program = export(model, make(5), dynamic_shapes=dynamic).run_decompositions()
                self.check(self.saved(program), kind().eval() if name == "in place" else model, make, 2e-5)

    def test_halves(self):
        for name in ("perceptron", "attention"):
            kind, make, dynamic = CASES[name]
            with self.subTest(name):
                for dtype in (torch.bfloat16, torch.float16):
                    model = kind().eval().to(dtype)
                    half = lambda n: tuple(each.to(dtype) for each in make(n))  # noqa: B023, E731
                    self.check(self.saved(export(model, half(5), dynamic_shapes=dynamic)), model, half, 3e-2)

    def test_weights_are_shared_and_strided_ones_copied(self):
        model = Perceptron()
        model.first.weight = nn.Parameter(torch.randn(8, 16).t())
        imported = self.saved(export(model, (torch.randn(2, 8),)))
        self.assertEqual(sorted(str(each) for each in imported.graph.weights)[0][:12], "'first.bias'")
        numpy.testing.assert_allclose(lm.compile(imported.graph)(torch.ones(2, 8)), model(torch.ones(2, 8)).detach(), rtol=1e-5)

    def test_what_strides_decide_is_refused(self):
        class Reshaped(nn.Module):
            def forward(self, x):
                y = x * 1
                y.t().reshape(-1).add_(1)
                return y

        with self.assertRaisesRegex(lm.UserError, "may share memory .* call clone"):
            self.saved(export(Reshaped(), (torch.randn(2, 3),)))

    def test_a_size_that_a_guard_excludes_is_an_error(self):
        for kind, example, wrong in ((Quarters(), torch.randn(2, 8, 6), torch.ones(2, 10, 6)),
                                     (OneChunk(), torch.randn(5, 6), torch.ones(33, 6))):
            program = export(kind, (example,), dynamic_shapes=(dict.fromkeys(range(example.dim() - 1), Dim.AUTO),))
            run = lm.compile(self.saved(program).graph)
            with self.assertRaisesRegex(lm.UserError, "10|33"):
                run(wrong)

    def test_one_row(self):
        for name in ("perceptron", "convolutions", "dtypes"):
            kind, make, dynamic = CASES[name]
            model = kind().eval()
            self.check(self.saved(export(model, make(5), dynamic_shapes=dynamic)), model, make, 2e-5, also=(1,))

    def test_division_toward_zero(self):
        class Divided(nn.Module):
            def forward(self, a, b):
                return torch.div(a, b, rounding_mode="trunc"), torch.div(a.float(), b, rounding_mode="trunc"), a.add(b, alpha=3)

        arguments = torch.tensor([-7, 7, -7, 7, 6, 2 ** 40 + 1]), torch.tensor([2, 2, -2, -2, 3, 2])
        run = lm.compile(self.saved(export(Divided(), arguments)).graph)
        for ours, theirs in zip(run(*arguments), Divided()(*arguments)):
            self.assertTrue(torch.equal(torch.from_dlpack(ours), theirs))

    def test_writing_to_an_input_is_refused(self):
        class Written(nn.Module):
            def forward(self, x):
                return x[1:].add_(1)

        with self.assertRaisesRegex(lm.UserError, "writes to its input 'x'"):
            self.saved(export(Written(), (torch.randn(3),)))

    def test_an_operator_that_is_missing_is_named_with_its_line(self):
        class Missing(nn.Module):
            def forward(self, x):
                return torch.linalg.eigvalsh(x)

        program = export(Missing(), (torch.randn(2, 3, 3),))
        with self.assertRaisesRegex(lm.UserError, r"aten\.\S+ \(.*test_pt2.py:\d+: return torch.linalg.eigvalsh\(x\)\): "
                                                  "this operator isn't supported yet"):
            self.saved(program)


class DamagedFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "model.pt2"
        save(export(Perceptron(), (torch.randn(2, 8),)), self.path)

    def test_each_cut_is_an_error(self):
        whole = self.path.read_bytes()
        for size in (0, 1, 21, 100, len(whole) // 2, len(whole) - 1):
            self.path.write_bytes(whole[:size])
            with self.subTest(size), self.assertRaises(lm.UserError):
                lm.import_pt2(self.path)

    def test_each_argument_may_be_anything(self):
        class Many(nn.Module):
            def forward(self, x):
                y = functional.pad(x, (1, 2)).roll((1, 2), (0, 1)).unflatten(1, (3, 5)).flatten(0, 1)
                y = torch.cat([y, y])[torch.arange(0.0, 2.0, 0.5).long()].squeeze(1)
                y.add_(1, alpha=2)
                return y.split([2, 3], dim=1), y.permute(1, 0), y.sum(1)

        save(export(Many(), (torch.randn(4, 12),)), self.path)
        with zipfile.ZipFile(self.path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        name = next(name for name in members if name.endswith("models/model.json"))
        nodes = json.loads(members[name])["graph_module"]["graph"]["nodes"]
        tried = 0
        for at, node in enumerate(nodes):
            for place in range(len(node["inputs"])):
                for value in ({}, {"as_int": 10 ** 6}, {"as_int": 2 ** 62}, {"as_ints": []}, {"as_ints": [9] * 9},
                              {"as_float": 0.0}, {"as_none": True}, {"as_tensors": []}, {"as_tensor": {"name": "x"}}):
                    program = json.loads(members[name])
                    program["graph_module"]["graph"]["nodes"][at]["inputs"][place]["arg"] = value
                    with zipfile.ZipFile(self.path, "w") as archive:
                        for each, content in members.items():
                            archive.writestr(each, json.dumps(program) if each == name else content)
                    tried += 1
                    with contextlib.suppress(lm.UserError):
                        lm.import_pt2(self.path)
        self.assertGreater(tried, 200)

    def test_changed_bytes_end_in_an_error_or_a_graph(self):
        whole = self.path.read_bytes()
        generator = numpy.random.default_rng(1)
        for _ in range(300):
            damaged = bytearray(whole)
            for at in generator.integers(0, len(whole), 3):
                damaged[at] = generator.integers(0, 256)
            self.path.write_bytes(damaged)
            try:
                lm.import_pt2(self.path)
            except lm.UserError:
                pass


if __name__ == "__main__":
    unittest.main()
