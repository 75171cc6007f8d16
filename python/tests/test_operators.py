"""PyTorch's operators one by one, exported and imported, against eager: dtypes, sizes 0, 1 and odd, NaN, -0 and ties."""
import pathlib
import tempfile
import unittest

import torch
from torch import nn
from torch.export import export, save

import luminal as lm

functional = nn.functional
NAN, INF = float("nan"), float("inf")
FLOATS = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
TOLERANCES = {torch.float64: 1e-7, torch.float32: 2e-6, torch.bfloat16: 1.6e-2, torch.float16: 1e-3}


class Called(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *arguments):
        result = self.function(*arguments)
        return tuple(result) if isinstance(result, tuple) else result


def flat(value):
    if isinstance(value, (tuple, list)):
        return [each for item in value for each in flat(item)]
    return [value]


class Operators(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "model.pt2"
        torch.manual_seed(3)

    def imported(self, function, arguments):
        save(export(Called(function), arguments), self.path)
        return lm.import_pt2(self.path)

    def check(self, function, *arguments, tolerance=None, other=None):
        """The same with these arguments, and with `other` ones of the same dims."""
        run = lm.compile(self.imported(function, arguments).graph)
        for given in filter(None, (arguments, other, arguments)):
            expected = flat(function(*(each.clone() for each in given)))
            found = run(*given)
            found = list(found) if isinstance(found, tuple) else [found]
            self.assertEqual(len(found), len(expected))
            for ours, theirs in zip(found, expected):
                ours = torch.from_dlpack(ours)
                self.assertEqual((tuple(ours.shape), ours.dtype), (tuple(theirs.shape), theirs.dtype))
                if not theirs.is_floating_point():
                    self.assertTrue(torch.equal(ours, theirs), f"{ours} instead of {theirs}")
                    continue
                limit = tolerance or TOLERANCES[theirs.dtype]
                torch.testing.assert_close(ours, theirs.detach(), rtol=limit, atol=limit, equal_nan=True)

    def check_floats(self, function, x, dtypes=FLOATS):
        for dtype in dtypes:
            with self.subTest(dtype=dtype):
                self.check(function, x.to(dtype))


SPECIAL = torch.tensor([0.0, -0.0, 1e-8, -1e-8, 1e-4, 0.3, -0.3, 0.5, -0.5, 0.99, 1.0, -1.0, 1.5, -1.5, 2.0, 3.7, -3.7, 9.0, -9.0, 30.0, -30.0,
                        85.0, INF, -INF, NAN])


class Functions(Operators):
    def test_near_zero_and_at_the_ends(self):
        for name in ("log1p", "expm1", "log10", "sinh", "cosh", "asinh", "acosh", "atanh", "asin", "acos", "atan", "erfc", "erfinv",
                     "lgamma", "digamma", "i0", "sinc", "frac", "deg2rad", "rad2deg", "signbit", "isposinf", "isneginf", "nan_to_num",
                     "angle", "logit"):
            with self.subTest(name):
                dtypes = (torch.float32, torch.float64, torch.bfloat16) if name != "sinh" else (torch.float32, torch.bfloat16)
                self.check_floats(getattr(torch, name), SPECIAL, dtypes)

    def test_special_ones(self):
        for name in ("entr", "ndtri", "log_ndtr", "erfcx", "i0e", "i1", "i1e"):
            with self.subTest(name):
                self.check_floats(getattr(torch.special, name), SPECIAL, (torch.float32, torch.float64))

    def test_relative_error_near_zero(self):
        x = torch.tensor([1e-7, -1e-7, 3e-5, -2e-3, 1e-12, 0.1])
        for function in (torch.log1p, torch.expm1, torch.sinh, torch.asinh, torch.atanh, torch.atan, torch.asin, torch.erfinv):
            run = lm.compile(self.imported(function, (x,)).graph)
            ours, exact = torch.from_dlpack(run(x)).double(), function(x.double())
            self.assertLess(float(((ours - exact) / exact).abs().max()), 3e-7, function.__name__)

    def test_two_operands(self):
        values = torch.tensor([0.0, -0.0, 1.0, -1.0, 2.5, -2.5, INF, -INF, NAN])
        a, b = values[:, None].expand(9, 9).contiguous(), values.expand(9, 9).contiguous()
        for function in (torch.atan2, torch.hypot, torch.copysign, torch.logaddexp, torch.logaddexp2, torch.xlogy, torch.special.xlog1py,
                         torch.fmax, torch.fmin, torch.heaviside, torch.nextafter, torch.maximum, torch.ldexp):
            with self.subTest(function.__name__):
                self.check(function, a, b)
        for function in (torch.atan2, torch.hypot, torch.copysign, torch.fmax):
            with self.subTest(function.__name__):
                self.check(function, a.bfloat16(), b.bfloat16())
        self.check(torch.atan2, torch.tensor([1, -2, 0]), torch.tensor([0, 3, -1]))

    def test_bits_of_floats(self):
        x = torch.tensor([0.0, -0.0, 1.0, -3.5, 1e-40, 1e30, 0.49999997, INF, NAN])
        self.check(lambda x: torch.frexp(x), x)
        self.check(lambda x: torch.round(x, decimals=2), torch.tensor([1.005, 2.345, -7.125, 0.0]))

    def test_polygamma(self):
        x = torch.tensor([0.1, 0.5, 1.0, 2.5, 40.0, -0.5, -3.7])
        for order in (0, 1, 2, 3):
            self.check(lambda x: torch.special.polygamma(order, x), x, tolerance=2e-5)  # noqa: B023
        self.check(lambda x: torch.mvlgamma(x, 3), torch.tensor([2.0, 3.5, 10.0]))

    def test_activations(self):
        for function in (functional.celu, functional.elu, functional.hardshrink, functional.softshrink, functional.logsigmoid, functional.mish,
                         functional.hardswish, functional.hardsigmoid, functional.selu, lambda x: functional.threshold(x, 0.1, 20.0),
                         lambda x: functional.glu(x, 0), lambda x: functional.prelu(x, x[:1].abs())):
            self.check_floats(function, torch.randn(6) * 3)


class Reductions(Operators):
    def test_counting(self):
        for dtype in (torch.float32, torch.bfloat16, torch.int16, torch.bool):
            x = torch.tensor([[0, 1, 0], [2, 3, 0]]).to(dtype)
            for dim in (None, 0, -1, (0, 1)):
                with self.subTest(dtype=dtype, dim=dim):
                    self.check(lambda y: torch.count_nonzero(y, dim), x)  # noqa: B023


class Sorting(Operators):
    def test_ties_nan_and_zeros(self):
        x = torch.tensor([[3.0, NAN, -0.0, 0.0, -1.0, 3.0, INF], [1.0, 1.0, -INF, NAN, NAN, 2.0, -2.0]])
        for descending in (False, True):
            self.check(lambda x: torch.sort(x, dim=1, descending=descending, stable=True), x)  # noqa: B023
            self.check(lambda x: torch.sort(x, dim=0, descending=descending, stable=True), x)  # noqa: B023
        self.check(lambda x: torch.argsort(x, stable=True), x)

    def test_dtypes(self):
        for dtype in (torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool):
            x = (torch.randn(3, 17) * 3).to(dtype)
            self.check(lambda x: torch.sort(x, stable=True), x, other=((torch.randn(3, 17) * 3).to(dtype),))

    def test_sizes(self):
        for size in (0, 1, 2, 33):
            self.check(lambda x: torch.sort(x, stable=True), torch.randn(2, size))
        self.check(lambda x: torch.sort(x), torch.tensor(2.5))

    def test_few(self):
        x = torch.randperm(40).reshape(4, 10).float()
        for largest in (False, True):
            self.check(lambda x: torch.topk(x, 3, dim=1, largest=largest), x)  # noqa: B023
            self.check(lambda x: torch.topk(x, 2, dim=0, largest=largest), x)  # noqa: B023
        self.check(lambda x: torch.kthvalue(x, 4, dim=1), x)
        self.check(lambda x: torch.median(x, dim=1), x)
        self.check(lambda x: torch.median(x), x)
        bad = x.clone()
        bad[1, 3] = bad[2, :] = NAN
        self.check(lambda x: torch.nanmedian(x, dim=1).values, bad)
        self.check(lambda x: torch.median(x, dim=1).values, bad)

    def test_searching(self):
        edges = torch.tensor([1.0, 3.0, 3.0, 5.0, 9.0])
        values = torch.tensor([[3.0, 6.0, 9.0], [0.0, 12.0, NAN]])
        for right in (False, True):
            self.check(lambda e, v: torch.searchsorted(e, v, right=right), edges, values)  # noqa: B023
            self.check(lambda v, e: torch.bucketize(v, e, right=right, out_int32=True), values, edges)  # noqa: B023
        self.check(lambda x: torch.histc(x, 7, -2, 3), torch.randn(100))
        self.check(lambda x: torch.histc(x, 4), torch.randn(50))
        self.check(lambda x: torch.histc(x.float(), 6, 0, 5), torch.randint(0, 6, (64,)))

    def test_running_extremes(self):
        for x in (torch.tensor([1.0, 3.0, 3.0, NAN, 2.0, NAN]), torch.tensor([4, 2, 2, 7, 7, -1]), torch.tensor([True, False, True])):
            self.check(lambda x: torch.cummax(x, 0), x)
            self.check(lambda x: torch.cummin(x, 0), x)
        self.check(lambda x: torch.logcumsumexp(x, 1), torch.randn(3, 9) * 50)


class Windows(Operators):
    def test_transposed(self):
        for options in ({}, {"stride": 2, "padding": 1, "output_padding": 1}, {"dilation": 2, "groups": 2, "stride": 3}):
            groups = options.get("groups", 1)
            for axes, function in ((1, functional.conv_transpose1d), (2, functional.conv_transpose2d), (3, functional.conv_transpose3d)):
                x, weight, bias = torch.randn(2, 4, *[5] * axes), torch.randn(4, 6 // groups, *[3] * axes), torch.randn(6)
                self.check(lambda x, w, b: function(x, w, b, **options), x, weight, bias, tolerance=2e-5)  # noqa: B023

    def test_three_axes(self):
        x, weight = torch.randn(2, 4, 5, 6, 7), torch.randn(6, 2, 3, 2, 3)
        self.check(lambda x, w: functional.conv3d(x, w, stride=2, padding=1, groups=2), x, weight, tolerance=2e-5)
        self.check(lambda x: functional.avg_pool3d(x, 2), x)
        self.check(lambda x: functional.max_pool3d(x, 2, stride=1, return_indices=True), x)

    def test_pools(self):
        x = torch.randn(2, 3, 11, 8)
        x[0, 0, 3, 3], x[0, 0, 0, 0] = NAN, -INF
        for options in ({}, {"ceil_mode": True}, {"padding": 1}, {"dilation": 2, "stride": 1}, {"stride": 3, "padding": 1, "ceil_mode": True}):
            self.check(lambda x: functional.max_pool2d(x, 3, return_indices=True, **options), x)  # noqa: B023
        clean = torch.randn(2, 3, 11, 8)
        for options in ({"ceil_mode": True}, {"padding": 1, "count_include_pad": False}, {"stride": 3, "padding": 1, "ceil_mode": True},
                        {"divisor_override": 5}):
            self.check(lambda x: functional.avg_pool2d(x, 3, **options), clean)  # noqa: B023
        self.check(lambda x: functional.max_pool2d(x, 2, return_indices=True), torch.randint(0, 3, (1, 2, 6, 6)))
        for size in (1, 3, 5, (4, 7)):
            self.check(lambda x: functional.adaptive_avg_pool2d(x, size), clean)  # noqa: B023
            self.check(lambda x: functional.adaptive_max_pool2d(x, size, return_indices=True), x)  # noqa: B023

    def test_columns(self):
        x = torch.randn(2, 3, 7, 6)
        self.check(lambda x: functional.unfold(x, 3, padding=1, stride=2), x)
        self.check(lambda x: functional.fold(x, (7, 6), 3, padding=1, stride=2), functional.unfold(x, 3, padding=1, stride=2))

    def test_resampling(self):
        x = torch.randn(2, 3, 5, 7)
        for mode in ("nearest", "nearest-exact", "bilinear", "bicubic"):
            for options in ({"size": (8, 3)}, {"scale_factor": 2}, {"scale_factor": 1.7}):
                self.check(lambda x: functional.interpolate(x, mode=mode, **options), x, tolerance=2e-5)  # noqa: B023
        for mode in ("bilinear", "bicubic"):
            self.check(lambda x: functional.interpolate(x, (9, 4), mode=mode, align_corners=True), x, tolerance=2e-5)  # noqa: B023
        self.check(lambda x: functional.interpolate(x, 9, mode="linear"), torch.randn(2, 3, 5))
        self.check(lambda x: functional.interpolate(x, (4, 5, 6), mode="trilinear"), torch.randn(1, 2, 3, 4, 5), tolerance=1e-5)
        self.check(lambda x: functional.interpolate(x, scale_factor=2, mode="nearest"), torch.randint(0, 200, (1, 1, 4, 4)).to(torch.uint8))

    def test_padding_with_itself(self):
        x = torch.randn(2, 3, 5, 6)
        for mode in ("reflect", "replicate", "circular"):
            self.check(lambda x: functional.pad(x, (1, 2, 3, 1), mode=mode), x)  # noqa: B023

    def test_grid(self):
        x, grid = torch.randn(2, 3, 5, 6), torch.rand(2, 4, 7, 2) * 3 - 1.5
        for padding in ("zeros", "border", "reflection"):
            for align in (False, True):
                self.check(lambda x, g: functional.grid_sample(x, g, padding_mode=padding, align_corners=align), x, grid, tolerance=2e-5)  # noqa: B023


class Indices(Operators):
    def test_combining(self):
        x, index, source = torch.randn(5, 4), torch.tensor([[0, 1, 1, 4], [2, 1, 0, 4]]), torch.randn(2, 4)
        for how in ("sum", "prod", "mean", "amax", "amin"):
            for include in (True, False):
                self.check(lambda x, i, s: x.scatter_reduce(0, i, s, how, include_self=include), x, index, source)  # noqa: B023
                whole = ((x * 9).long(), index, (source * 9).long())
                self.check(lambda x, i, s: x.scatter_reduce(0, i, s, how, include_self=include), *whole)  # noqa: B023
        rows = torch.tensor([0, 3, 3])
        self.check(lambda x, i, s: x.index_add(0, i, s, alpha=2), x, rows, torch.randn(3, 4))
        self.check(lambda x, i, s: x.index_copy(1, i, s), x, torch.tensor([2, 0]), torch.randn(5, 2))
        self.check(lambda x, i: x.index_fill(1, i, 7.0), x, torch.tensor([2, -1]))
        self.check(lambda x, i, s: x.index_reduce(0, i, s, "amin"), x, rows, torch.randn(3, 4))
        self.check(lambda x, i: torch.take(x, i), x, torch.tensor([[0, 19], [-1, 7]]))
        self.check(lambda x, i, s: x.put(i, s, accumulate=True), x, torch.tensor([0, 19, 0]), torch.randn(3))
        self.check(lambda x, m, s: x.masked_scatter(m, s), x, x > 0, torch.randn(20))

    def test_one_value_at_a_mask(self):
        def put(x, mask):
            y = x.clone()
            y[mask] = 7.0
            return y

        self.check(put, torch.randn(3, 4), torch.tensor([True, False, True]))
        self.check(put, torch.randn(3, 4), torch.rand(3, 4) > 0.5)

    def test_slices_with_steps(self):
        for start, end, step in ((0, 7, 2), (1, 6, 3), (2, 7, 4)):
            self.check(lambda x, s: torch.slice_scatter(x, s, 1, start, end, step), torch.randn(3, 7),  # noqa: B023
                       torch.randn(3, 7)[:, start:end:step].contiguous())

    def test_changed_dims(self):
        def changed(x):
            y = x * 2
            view = y[0]
            y.unsqueeze_(1)
            y.add_(1)
            y.squeeze_(1)
            return y.t_(), view

        self.check(changed, torch.randn(3, 4))

    def test_diagonals(self):
        x = torch.randn(2, 4, 5)
        for offset in (0, 1, -2):
            self.check(lambda x: torch.diagonal(x, offset, 1, 2), x)  # noqa: B023
            self.check(lambda x: torch.diag_embed(x, offset), torch.randn(2, 3))  # noqa: B023
            self.check(lambda x, s: torch.diagonal_scatter(x, s, offset, 1, 2), x, torch.diagonal(x, offset, 1, 2).contiguous())  # noqa: B023
        self.check(torch.trace, torch.randn(3, 5))
        self.check(lambda a, b: torch.block_diag(a, b), torch.randn(2, 3), torch.randn(1, 2))
        self.check(lambda a, b: torch.isin(a, b), torch.tensor([[1, 2], [3, 4]]), torch.tensor([2, 4, 9]))

    def test_sequences(self):
        self.check(lambda x: x + torch.linspace(-3, 10, 8), torch.zeros(8))
        self.check(lambda x: x.repeat_interleave(3, 1), torch.randn(2, 4))
        self.check(lambda x: torch.rot90(x, 1, (0, 1)), torch.randn(2, 4))
        self.check(lambda x: torch.diff(x, n=2), torch.randn(3, 6))
        self.check(lambda x: x + torch.eye(3), torch.zeros(3, 3))


class Products(Operators):
    def test_einsum(self):
        for equation, shapes in (("ij,jk->ik", ((3, 4), (4, 5))), ("bhid,bhjd->bhij", ((2, 3, 4, 5), (2, 3, 6, 5))), ("ij->ji", ((3, 4),)),
                                 ("bij,bj->bi", ((2, 3, 4), (2, 4))), ("i,j->ij", ((3,), (4,))), ("ijk,jl->il", ((2, 3, 4), (3, 5)))):
            self.check(lambda *x: torch.einsum(equation, *x), *(torch.randn(*shape) for shape in shapes), tolerance=1e-5)  # noqa: B023

    def test_biased_products_are_rounded_once(self):
        for dtype in (torch.float32, torch.bfloat16):
            a, b, c = (torch.randn(*shape).to(dtype) for shape in ((3, 4), (4, 5), (5,)))
            self.check(lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2), c, a, b)
        self.check(lambda c, a, b: torch.addmm(c, a, b, beta=0), torch.full((5,), NAN), torch.randn(3, 4), torch.randn(4, 5))

    def test_systems(self):
        a = torch.randn(2, 5, 5) + 4 * torch.eye(5)
        b = torch.randn(2, 5, 3)
        for upper in (False, True):
            for unit in (False, True):
                self.check(lambda a, b: torch.linalg.solve_triangular(a, b, upper=upper, unitriangular=unit), a, b, tolerance=1e-5)  # noqa: B023
        self.check(lambda a, b: torch.linalg.solve_triangular(a, b, upper=True, left=False), a, b.mT.contiguous(), tolerance=1e-5)
        self.check(lambda a: torch.linalg.inv_ex(a).inverse, torch.randn(2, 6, 6), tolerance=1e-4)
        self.check(lambda a: torch.linalg.det(a), torch.randn(3, 4, 4), tolerance=1e-5)
        self.check(lambda a: torch.linalg.cholesky_ex(a @ a.transpose(1, 2) + torch.eye(4)).L, torch.randn(2, 4, 4), tolerance=1e-5)

    def test_experts(self):
        import transformers.integrations.moe  # noqa: F401  (registers the operator)
        grouped = torch.ops.transformers.grouped_mm_fallback
        x, weight = torch.randn(10, 6), torch.randn(4, 6, 5)
        self.check(lambda x, w, o: grouped(x, w, o), x, weight, torch.tensor([3, 3, 7, 9], dtype=torch.int32), tolerance=1e-5,
                   other=(x, weight, torch.tensor([0, 10, 10, 10], dtype=torch.int32)))


class Recurrent(Operators):
    def test_layers(self):
        for kind in (nn.LSTM, nn.GRU, nn.RNN):
            for options in ({}, {"num_layers": 2, "bidirectional": True}, {"batch_first": True, "bias": False}):
                layer = kind(3, 4, **options).eval()
                x = torch.randn(2, 5, 3)
                save(export(layer, (x,)), self.path)
                run, expected = lm.compile(lm.import_pt2(self.path).graph), flat(layer(x))
                for ours, theirs in zip(run(x), expected, strict=True):
                    torch.testing.assert_close(torch.from_dlpack(ours), theirs.detach(), rtol=2e-6, atol=2e-6)


class Gradients(Operators):
    """By operators of the backward graphs, called directly."""

    def test_elementwise(self):
        aten = torch.ops.aten
        grad, x = torch.randn(3, 7), torch.randn(3, 7) * 2
        for function in (lambda g, x: aten.threshold_backward(g, x, 0), lambda g, x: aten.gelu_backward(g, x),
                         lambda g, x: aten.gelu_backward(g, x, approximate="tanh"), lambda g, x: aten.silu_backward(g, x),
                         lambda g, x: aten.tanh_backward(g, x.tanh()), lambda g, x: aten.sigmoid_backward(g, x.sigmoid()),
                         lambda g, x: aten._softmax_backward_data(g, x.softmax(1), 1, x.dtype),
                         lambda g, x: aten._log_softmax_backward_data(g, x.log_softmax(1), 1, x.dtype),
                         lambda g, x: aten.hardtanh_backward(g, x, -1, 1), lambda g, x: aten.leaky_relu_backward(g, x, 0.1, False),
                         lambda g, x: aten.elu_backward(g, 1.5, 1, 1, False, x), lambda g, x: aten.hardswish_backward(g, x),
                         lambda g, x: aten.mish_backward(g, x), lambda g, x: aten.softplus_backward(g, x, 1, 20)):
            self.check(function, grad, x, tolerance=5e-6)
            self.check(function, grad.bfloat16(), x.bfloat16(), tolerance=3e-2)

    def test_layers(self):
        aten = torch.ops.aten
        x, weight, bias, grad = torch.randn(2, 5, 8), torch.randn(8), torch.randn(8), torch.randn(2, 5, 8)

        def layer_norm(g, x, w, b):
            _, mean, rstd = aten.native_layer_norm(x, [8], w, b, 1e-5)
            return aten.native_layer_norm_backward(g, x, [8], mean, rstd, w, b, [True, True, True])

        def group_norm(g, x, w, b):
            _, mean, rstd = aten.native_group_norm(x, w, b, 2, 8, 5, 4, 1e-5)
            return aten.native_group_norm_backward(g, x, mean, rstd, w, 2, 8, 5, 4, [True, True, True])

        def batch_norm(g, x, w, b):
            _, mean, rstd = aten._native_batch_norm_legit.no_stats(x, w, b, True, 0.1, 1e-5)
            return aten.native_batch_norm_backward(g, x, w, None, None, mean, rstd, True, 1e-5, [True, True, True])

        self.check(layer_norm, grad, x, weight, bias, tolerance=2e-5)
        channels = x.transpose(1, 2).contiguous()
        for function in (group_norm, batch_norm):
            self.check(function, grad.transpose(1, 2).contiguous(), channels, weight, bias, tolerance=2e-5)

    def test_convolutions(self):
        aten = torch.ops.aten
        for transposed, stride, padding, dilation, groups in ((False, 1, 1, 1, 1), (False, 2, 1, 1, 2), (False, 3, 0, 2, 1), (True, 2, 1, 1, 2)):
            x = torch.randn(2, 4, 9, 8)
            weight = torch.randn(4, 6 // groups, 3, 3) if transposed else torch.randn(6, 4 // groups, 3, 3)
            numbers = ([stride] * 2, [padding] * 2, [dilation] * 2, transposed, [0, 0], groups)
            grad = torch.randn_like(aten.convolution(x, weight, None, *numbers))
            self.check(lambda g, x, w: aten.convolution_backward(g, x, w, [6], *numbers, [True, True, True]), grad, x, weight,  # noqa: B023
                       tolerance=1e-4)

    def test_pools_and_rows(self):
        aten = torch.ops.aten
        x = torch.randn(2, 3, 8, 8)
        values, places = aten.max_pool2d_with_indices(x, [3, 3], [2, 2], [1, 1])
        grad = torch.randn_like(values)
        self.check(lambda g, x, i: aten.max_pool2d_with_indices_backward(g, x, [3, 3], [2, 2], [1, 1], [1, 1], False, i), grad, x, places)
        self.check(lambda g, x: aten.avg_pool2d_backward(g, x, [3, 3], [2, 2], [1, 1], False, False, None), grad, x)
        self.check(lambda g, x: aten._adaptive_avg_pool2d_backward(g, x), torch.randn(2, 3, 3, 5), x)
        index = torch.tensor([[1, 1, 4], [0, 4, 2]])
        self.check(lambda g, i: aten.embedding_dense_backward(g, i, 6, 4, False), torch.randn(2, 3, 5), index)

    def test_attention(self):
        aten = torch.ops.aten
        q, k, v, grad = (torch.randn(2, 3, 7, 8) for _ in range(4))
        for causal in (False, True):
            def both(g, q, k, v):
                out, sums = aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, causal)  # noqa: B023
                back = aten._scaled_dot_product_flash_attention_for_cpu_backward(g, q, k, v, out, sums, 0.0, causal)  # noqa: B023
                return out, sums, back

            self.check(both, grad, q, k, v, tolerance=2e-5)


if __name__ == "__main__":
    unittest.main()
