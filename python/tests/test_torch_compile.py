"""torch.compile with the backend: results, memory, sizes, gradients and errors are those of PyTorch itself."""
import copy
import pathlib
import tempfile
import unittest
import unittest.mock
import warnings

import torch
from torch import nn

import luminal as lm
import luminal.torch

functional = torch.nn.functional


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.second = nn.Linear(8, 16), nn.LayerNorm(16), nn.Linear(16, 4)

    def forward(self, x):
        return self.second(self.norm(functional.gelu(self.first(x))))


class Layer(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).unflatten(-1, (3, 2, -1)).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(y.transpose(1, 2).flatten(2))


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer(), Layer(), Layer()])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Cache(nn.Module):
    """Writes keys at a position, and reads all of them; counts its calls in a buffer."""

    def __init__(self):
        super().__init__()
        self.project = nn.Linear(4, 4)
        self.register_buffer("calls", torch.zeros(1, dtype=torch.int64))

    def forward(self, x, position, keys):
        self.calls.add_(1)
        keys.index_copy_(1, position, self.project(x))
        return keys.sum(-1) * (torch.arange(keys.shape[1]) <= position[-1]), self.calls * 2


def compiled(model, **options):
    options.setdefault("fullgraph", True)
    return torch.compile(model, backend=luminal.torch.backend, **options)


class Backend(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        luminal.torch.reset()
        torch.manual_seed(3)

    def graphs(self):
        return lm.report().graphs

    def check(self, model, *calls, tolerance=1e-5, **options):
        """The same results, dtypes and strides as eager's, and the same changes of arguments."""
        theirs = copy.deepcopy(model)
        fast = compiled(model, **options)
        with torch.no_grad():
            for arguments in calls:
                own, other = copy.deepcopy(arguments), copy.deepcopy(arguments)
                found, expected = fast(*own), theirs(*other)
                many = isinstance(expected, (tuple, list))
                for ours, wanted in zip(found if many else [found], expected if many else [expected], strict=True):
                    self.assertIs(type(ours), type(wanted))
                    if isinstance(wanted, torch.Tensor):
                        torch.testing.assert_close(ours, wanted, rtol=tolerance, atol=tolerance)
                        self.assertEqual(ours.stride(), wanted.stride())
                    else:
                        self.assertEqual(ours, wanted)
                for ours, wanted in zip(own, other):
                    if isinstance(wanted, torch.Tensor):
                        torch.testing.assert_close(ours, wanted, rtol=tolerance, atol=tolerance)

    def test_the_second_size_makes_the_last_graph(self):
        self.check(Perceptron().eval(), *((torch.randn(n, 8),) for n in (3, 5, 2, 17, 3)))
        self.assertEqual([each.kind for each in self.graphs()], ["inference"] * 2)

    def test_dynamic_sizes_are_one_graph(self):
        self.check(Layers().eval(), *((torch.randn(b, n, 16),) for b, n in ((2, 5), (3, 9), (4, 2))), dynamic=True)
        self.assertEqual(len(self.graphs()), 1)
        self.assertEqual(len(self.graphs()[0].sizes), 2)

    def test_sizes_that_are_multiples(self):
        def quarters(x, n):
            return x.reshape(x.shape[0], -1, 4, 6).cumsum(2).reshape(x.shape) * n, x.shape[1] // 4, x[:, :n]

        self.check(quarters, *((torch.randn(n + 1, 4 * n, 6), 8 * n) for n in (3, 2, 17)), dynamic=True)
        self.assertEqual(len(self.graphs()), 1)

    def test_halves_and_integers(self):
        for dtype in (torch.bfloat16, torch.float16):
            self.check(Perceptron().eval().to(dtype), (torch.randn(3, 8, dtype=dtype),), tolerance=2e-2)
        numbers = torch.arange(12).reshape(3, 4)
        self.check(lambda x, y, z: (x % 3, y & 5, ~z, (x > 4).any(1), x // 2 - y), (numbers, numbers.int(), numbers > 5))

    def test_sizes_of_nothing_and_one(self):
        self.check(lambda x: (x + 1, x.sum(0), x.t() @ x), (torch.randn(0, 3),), (torch.randn(1, 3),), (torch.randn(7, 3),))

    def test_caches_are_written_where_they_are(self):
        model = Cache()
        fast, keys = compiled(model), torch.zeros(2, 6, 4)
        theirs, expected = copy.deepcopy(model), torch.zeros(2, 6, 4)
        address = keys.data_ptr()
        with torch.no_grad():
            for at in range(4):
                x, position = torch.randn(2, 1, 4), torch.tensor([at])
                for ours, wanted in zip(fast(x, position, keys), theirs(x, position, expected)):
                    torch.testing.assert_close(ours, wanted)
        torch.testing.assert_close(keys, expected)
        self.assertEqual((keys.data_ptr(), model.calls.item()), (address, 4))
        self.assertEqual(len(self.graphs()), 1)
        self.assertEqual(sorted(self.graphs()[0].states), ["calls", "keys"])

    def test_writes_through_views_and_to_parts(self):
        def written(x, k, cache):
            cache[:, k:k + 1] = x[:, :1]
            cache[0].mul_(2)
            x.t()[1].add_(1)
            return cache[:, :k].sum()

        self.check(written, (torch.randn(4, 3), 1, torch.randn(4, 6)), (torch.randn(4, 3), 2, torch.randn(4, 6)),
                   (torch.randn(5, 3), 4, torch.randn(5, 9)))

    def test_results_that_are_no_new_tensors(self):
        constant = torch.arange(300.0)
        self.check(lambda x: (x, x + 1, None, x.shape[0] * 2, 7, x, (x + constant[:1]) * torch.tensor([2.0])),
                   (torch.randn(3),), (torch.randn(4),), (torch.randn(9),))

    def test_nothing_to_compute(self):
        self.check(lambda x: (x, x.shape[0]), (torch.randn(3),))

    def test_results_that_are_views(self):
        def shared(x, cache):
            cache.add_(1)
            y = x * 2
            return y, y.t(), y[1:, 1:].unsqueeze(0), x[:, 2:], x.t()[1:], cache[1:], x.unbind(1)[1], y.expand(2, *y.shape)

        self.check(shared, *((torch.randn(n, 4), torch.randn(n)) for n in (3, 5, 7)))
        fast, x, cache = compiled(shared), torch.randn(5, 4), torch.randn(5)
        with torch.no_grad():
            y, turned, part, own, *_ = fast(x, cache)
            y.fill_(7)
            self.assertTrue((turned == 7).all() and (part == 7).all())
            own.fill_(3)
            self.assertTrue((x[:, 2:] == 3).all())

    def test_layouts(self):
        x = torch.randn(4, 6).t()
        self.check(lambda x, y: (x.t() + 1, x + 1, (x @ y).permute(1, 0), y[::2]), (x, torch.randn(8, 4)[::2]))
        image = torch.randn(2, 3, 8, 8).contiguous(memory_format=torch.channels_last)
        self.check(nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last), (image,))
        model = nn.Linear(4, 5)
        model.weight = nn.Parameter(torch.randn(4, 5).t())
        self.check(model, (torch.randn(3, 4),))

    def test_weights_that_change_are_read_again(self):
        model = Perceptron().eval()
        fast, x = compiled(model), torch.randn(3, 8)
        with torch.no_grad():
            for change in (lambda: None, lambda: model.first.weight.mul_(2), lambda: model.second.bias.copy_(torch.ones(4)),
                           lambda: setattr(model.first.weight, "data", torch.randn(16, 8))):
                change()
                torch.testing.assert_close(fast(x), model(x))
        self.assertEqual(len(self.graphs()), 1)

    def test_wrappers_are_left_out_where_they_do_nothing(self):
        x, model = torch.randn(3, 8), Perceptron().eval()

        def changed(x, y):
            y.mul_(2)
            return x + y

        for function, arguments, plain in (
                (model, (x,), True), (lambda x: (x + 1, x.argmax(), x.sum(0).t()), (x,), True),
                (changed, (x, torch.ones(3, 8)), True), (lambda x: (x + 1, x.t()), (x,), False),
                (lambda x: (lambda y: (y, y[1:]))(x * 2), (x,), True), (lambda x, y: x + y, (x, x), None)):
            torch._dynamo.reset()
            answers = []
            is_plain = luminal.torch.plain_graphs.is_plain
            with unittest.mock.patch.object(luminal.torch.plain_graphs, "is_plain",
                                            lambda *given: answers.append(is_plain(*given)) or answers[-1]):
                self.check(function, arguments)
            self.assertTrue(plain is None or answers == [plain], answers)
        with torch.inference_mode(False):
            y = compiled(lambda x: (x.argmax(), x.detach() * 2))(torch.randn(4, requires_grad=True))[1]
        self.assertFalse(y.requires_grad)

    def test_graphs_after_a_break(self):
        def broken(x):
            y = x * 2
            torch._dynamo.graph_break()
            return y + x.sum()

        self.check(broken, (torch.randn(3),), fullgraph=False)
        self.assertEqual(len(self.graphs()), 2)

    def test_gradients(self):
        for model, shape in ((Perceptron(), (5, 8)), (Layers(), (2, 7, 16)),
                             (nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU()), (2, 2, 6, 6)),
                             (nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4)).eval(), (2, 2, 6, 6))):
            with self.subTest(type(model).__name__):
                theirs = copy.deepcopy(model)
                fast = compiled(model)
                for batch in (shape[0], shape[0] + 2):
                    x = torch.randn(batch, *shape[1:], requires_grad=True)
                    y = x.detach().clone().requires_grad_()
                    (fast(x) ** 2).sum().backward()
                    (theirs(y) ** 2).sum().backward()
                    for ours, wanted in zip([x, *model.parameters()], [y, *theirs.parameters()], strict=True):
                        torch.testing.assert_close(ours.grad, wanted.grad, rtol=1e-4, atol=1e-5)
        self.assertEqual({each.kind for each in self.graphs()}, {"forward", "backward"})

    def test_training_steps(self):
        model = Perceptron()
        theirs = copy.deepcopy(model)
        x, y = torch.randn(16, 8), torch.randint(0, 4, (16,))
        for each, run in ((model, compiled(model)), (theirs, theirs)):
            optimizer = torch.optim.SGD(each.parameters(), lr=0.1)
            for _ in range(5):
                optimizer.zero_grad()
                functional.cross_entropy(run(x), y).backward()
                optimizer.step()
        for ours, wanted in zip(model.parameters(), theirs.parameters()):
            torch.testing.assert_close(ours, wanted, rtol=1e-4, atol=1e-5)
        self.assertEqual(len(self.graphs()), 2)

    def test_marked_layers_are_traced_once(self):
        class Marked(Layer):
            """Marking changes the class."""

        model, x = Layers().eval(), torch.randn(2, 5, 16)
        for layer in model.layers:
            layer.__class__ = Marked
        with torch.no_grad():
            expected = model(x)
            self.assertIs(lm.mark_layers(lm.mark_layers(model)), model)
            torch.testing.assert_close(compiled(model)(x), expected, rtol=1e-5, atol=1e-5)
        self.assertEqual(len(self.graphs()), 1)

    def test_saved_and_loaded(self):
        model, x = Perceptron().eval(), torch.randn(3, 8)
        with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model"
            made = compiled(model.forward).aot_compile(((x,), {}))
            torch.testing.assert_close(made(model, x), model(x))
            made.save_compiled_function(str(path))
            luminal.torch.reset()
            torch._dynamo.reset()
            with path.open("rb") as file:
                loaded = torch.compiler.load_compiled_function(file)
            torch.testing.assert_close(loaded(model, x), model(x))
        self.assertEqual([each.name.endswith("loaded") for each in self.graphs()], [True])


class Reports(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        luminal.torch.reset()

    def unknown(self, x):
        return torch.linalg.svdvals(x) + torch.linalg.eigvalsh(x)

    def test_all_operators_that_are_missing_are_named_with_their_lines(self):
        with self.assertRaisesRegex(Exception, r"(?s)aten\._linalg_svd\S+ \(.*test_torch_compile.py:\d+: return torch.linalg.svd"
                                               r".*aten\._linalg_eigh.*fallback"):
            compiled(self.unknown)(torch.randn(3, 3))

    def test_fallbacks_are_listed(self):
        x = torch.randn(3, 3)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            ours = compiled(self.unknown, options={"fallback": "eager"})(x)
        torch.testing.assert_close(ours, self.unknown(x))
        self.assertIn("runs eagerly", " ".join(str(each.message) for each in found))
        self.assertEqual(len(lm.report().fallbacks), 2)
        self.assertIn("runs eagerly: aten._linalg_svd", str(lm.report()))

    def test_options(self):
        for options in ({"fallback": "never"}, {"thread": 1}, {"threads": "many"}):
            torch._dynamo.reset()
            with self.subTest(options), self.assertRaisesRegex(Exception, next(iter(options))):
                compiled(torch.sin, options=options)(torch.randn(3))
        torch._dynamo.reset()
        compiled(torch.sin, options={"threads": 1, "backend": "interp"})(torch.randn(3))

    def test_devices_are_refused(self):
        with self.assertRaisesRegex(Exception, "is on the device meta"):
            compiled(lambda x: x + 1)(torch.randn(3, device="meta"))

    def test_what_is_reported(self):
        model = Perceptron().eval()
        with torch.no_grad():
            fast = compiled(model, dynamic=True)
            fast(torch.randn(3, 8))
        graph = lm.report().graphs[0]
        self.assertEqual((graph.weights, len(graph.inputs), graph.results), (6, 1, 1))
        text = str(lm.report())
        for part in ("1 graph, 0 run eagerly", "x f32[s", "2 to any", "kernels for", "seconds: records"):
            self.assertIn(part, text)
        self.assertIn("<pre>", lm.report()._repr_html_())

    def test_copied_arguments_are_named(self):
        fast = compiled(lambda x: x + 1)
        fast(torch.randn(4, 6)[:, ::2])
        self.assertEqual(lm.report().graphs[0].copied, ["x"])
        self.assertIn("copied in the last call: x", str(lm.report()))

    def test_a_size_that_became_fixed_is_named_with_its_line(self):
        def fixes(x):
            return x * 2 if x.shape[0] == 5 else x

        compiled(fixes, dynamic=True)(torch.randn(5, 3))
        self.assertTrue(any(each.value == "5" and "test_torch_compile" in each.why for each in lm.report().graphs[0].fixed),
                        str(lm.report()))

    def test_the_name_is_registered(self):
        torch.testing.assert_close(torch.compile(torch.cos, backend="luminal")(torch.ones(3)), torch.ones(3).cos())


if __name__ == "__main__":
    unittest.main()
