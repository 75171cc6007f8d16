"""Graphs, compiling and running, as README shows them."""
import gc
import math
import unittest

import numpy
import numpy.testing

import luminal as lm


def linear_and_softmax():
    graph = lm.Graph()
    batch = lm.var("batch", 1, 64)
    x = graph.input("x", (batch, 3))
    w = graph.weight("w", (3, 2))
    y = lm.softmax(x @ w, axis=-1).output("y")
    return graph, x, w, y


WEIGHTS = [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]
INPUT = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
EXPECTED = [[0.35434365, 0.64565635], [0.18242553, 0.81757444]]


class Graphs(unittest.TestCase):
    def test_the_example_of_the_readme(self):
        graph, x, w, y = linear_and_softmax()
        exe = lm.compile(graph)
        exe.set(w, WEIGHTS)
        exe.set(x, INPUT)
        exe.run(batch=2)
        numpy.testing.assert_allclose(exe.get(y), EXPECTED, rtol=1e-6)

    def test_a_call_finds_the_sizes_in_its_arguments(self):
        graph, _, w, _ = linear_and_softmax()
        w.set(numpy.array(WEIGHTS, numpy.float32))
        exe = lm.compile(graph)
        for rows in (2, 1, 2):
            numpy.testing.assert_allclose(exe(INPUT[:rows]), EXPECTED[:rows], rtol=1e-6)
        numpy.testing.assert_allclose(exe(x=numpy.array(INPUT, numpy.float32)), EXPECTED, rtol=1e-6)

    def test_results_stay_when_the_next_run_comes(self):
        graph, _, w, _ = linear_and_softmax()
        w.set(WEIGHTS)
        exe = lm.compile(graph)
        first = exe(INPUT)
        exe([[0.0, 0.0, 0.0]])
        numpy.testing.assert_allclose(first, EXPECTED, rtol=1e-6)

    def test_sizes_that_disagree_are_named(self):
        graph = lm.Graph()
        n = lm.var("n")
        (graph.input("a", (n,)) + graph.input("b", (n,))).output("y")
        exe = lm.compile(graph)
        with self.assertRaisesRegex(lm.UserError, "'b': its dim 0 is 'n', which is 3 here and 2 in another"):
            exe([1.0, 2.0], [1.0, 2.0, 3.0])

    def test_several_outputs_are_a_tuple(self):
        graph = lm.Graph()
        x = graph.input("x", (4,))
        (x + 1).output("more")
        (x - 1).output("less")
        more, less = lm.compile(graph)([0.0, 1.0, 2.0, 3.0])
        self.assertEqual((more.tolist(), less.tolist()), ([1, 2, 3, 4], [-1, 0, 1, 2]))

    def test_states_are_carried(self):
        graph = lm.Graph()
        total = graph.state("total", ())
        x = graph.input("x", ())
        graph.update(total, total + x)
        exe = lm.compile(graph)
        for value in (1.0, 2.0, 3.5):
            exe.set(x, value)
            exe.run()
        self.assertEqual(exe.get(total).item(), 6.5)

    def test_a_graph_lives_as_long_as_its_tensors(self):
        def made():
            return (lm.Graph().input("x", (2,)) * 3).output("y")

        tensor = made()
        gc.collect()
        self.assertEqual(tensor.shape, (2,))
        self.assertEqual((tensor + 1).dtype, lm.f32)

    def test_the_text_form_is_read_back(self):
        graph, *_ = linear_and_softmax()
        self.assertEqual(str(lm.Graph.parse(str(graph))), str(graph))

    def test_errors_are_of_three_kinds(self):
        self.assertTrue(issubclass(lm.UserError, ValueError))
        graph = lm.Graph()
        with self.assertRaisesRegex(lm.UserError, "matmul"):
            graph.input("a", (2, 3)) @ graph.input("b", (2, 3))
        with self.assertRaisesRegex(TypeError, "there is no option 'thread'; did you mean 'threads'?"):
            lm.compile(graph, thread=1)
        with self.assertRaisesRegex(lm.UserError, "option numerics='sloppy': it takes \"exact\""):
            lm.compile(graph, numerics="sloppy")

    def test_operators_and_indices_mean_what_they_mean_in_numpy(self):
        data = numpy.arange(24, dtype=numpy.float32).reshape(2, 3, 4)
        graph = lm.Graph()
        x = graph.input("x", (2, 3, 4))
        cases = {
            "slice": (x[:, 1:, ::2], data[:, 1:, ::2]),
            "select": (x[1], data[1]),
            "last": (x[..., -1], data[..., -1]),
            "new": (x[:, None, 0], data[:, None, 0]),
            "power": (2.0 ** (x / 8), 2.0 ** (data / 8)),
            "mixed": (1 - x * 2, 1 - data * 2),
            "mean": (x.mean(axes=(0, 2)), data.mean(axis=(0, 2))),
            "std": (x.std(), data.std(ddof=1)),
            "where": (lm.where(x > 5, x, -1.0), numpy.where(data > 5, data, -1)),
            "concat": (lm.concat([x, x], axis=1), numpy.concatenate([data, data], axis=1)),
        }
        for name, (tensor, _) in cases.items():
            tensor.output(name)
        exe = lm.compile(graph)
        for name, result in zip(exe.outputs, exe(data)):
            with self.subTest(name):
                numpy.testing.assert_allclose(result, cases[name][1], rtol=1e-5)

    def test_layers_take_pytorchs_names(self):
        graph = lm.Graph()
        x = graph.input("x", (5, 8))
        scope = lm.nn.Scope(graph)
        hidden = lm.nn.linear(scope.child("fc1"), x, 16).relu()
        lm.nn.layer_norm(scope.child("norm"), lm.nn.linear(scope.child("fc2"), hidden, 4)).output("y")
        self.assertEqual([name for name, _, _ in lm.nn.parameters(graph)],
                         ["fc1.bias", "fc1.weight", "fc2.bias", "fc2.weight", "norm.bias", "norm.weight"])
        self.assertEqual(lm.nn.n_parameters(graph), 16 * 8 + 16 + 4 * 16 + 4 + 8)

    def test_reports_explain_and_view(self):
        graph, _, w, _ = linear_and_softmax()
        w.set(WEIGHTS)
        exe = lm.compile(graph)
        self.assertIn("kernel", str(exe.report))
        self.assertTrue(exe.report._repr_html_().startswith("<pre>"))
        self.assertIn("kernel", str(exe.explain()))
        self.assertTrue(exe.view().html.lower().startswith("<!doctype html>"))

    def test_the_interpreter_gives_the_same(self):
        graph, _, w, _ = linear_and_softmax()
        w.set(WEIGHTS)
        numpy.testing.assert_allclose(lm.compile(graph, backend="interp")(INPUT), EXPECTED, rtol=1e-6)


class Scalars(unittest.TestCase):
    def test_numbers_of_numpy_are_numbers(self):
        graph = lm.Graph()
        x = graph.input("x", (numpy.int64(2),))
        (x * numpy.float64(math.pi)).output("y")
        numpy.testing.assert_allclose(lm.compile(graph)([1.0, 2.0]), [math.pi, 2 * math.pi], rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
