"""Graphs, compiling and running, as README shows them."""
import gc
import math
import threading
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


class Calls(unittest.TestCase):
    @staticmethod
    def sum_of_two():
        graph = lm.Graph()
        n = lm.var("n")
        (graph.input("a", (n,)) + graph.input("b", (n,))).output("y")
        return lm.compile(graph)

    def test_every_input_is_given_once(self):
        add = self.sum_of_two()
        add([1.0], [2.0])
        for arguments, named, message in (
                (([1.0],), {}, "input 'b' is missing"), (([1.0], [2.0], [3.0]), {}, "has 2 inputs .a, b., 3 were given"),
                (([1.0], [2.0]), {"a": [1.0]}, "input 'a' was given twice"),
                (([1.0],), {"c": numpy.ones(1)}, "there is no input 'c'; there are: a, b")):
            with self.assertRaisesRegex(TypeError, message):
                add(*arguments, **named)
        with self.assertRaisesRegex(lm.UserError, "no variable 'c'"):
            add([1.0], [2.0], c=1)
        self.assertEqual(add(b=[2.0], a=[1.0]).tolist(), [3.0])

    def test_a_failed_call_leaves_nothing_bound(self):
        graph = lm.Graph()
        graph.input("x", (4,)).output("a")
        graph.full((lm.var("n"),), 2.0).output("b")
        run = lm.compile(graph)
        with self.assertRaises(lm.UserError):
            run([1.0, 2.0, 3.0, 4.0])
        run.set("x", [1.0, 2.0, 3.0, 4.0])
        run.run(n=2)
        self.assertEqual((run.get("a").tolist(), run.get("b").tolist()), ([1, 2, 3, 4], [2, 2]))

    def test_one_value_may_have_two_names(self):
        graph = lm.Graph()
        y = graph.input("x", (2,)) + 1
        y.output("a")
        y.output("b")
        self.assertEqual([each.tolist() for each in lm.compile(graph)([1.0, 2.0])], [[2, 3], [2, 3]])

    def test_threads_take_turns(self):
        add, wrong = self.sum_of_two(), []

        def work(value):
            ours = numpy.full(5000 + int(value), value, numpy.float32)
            for _ in range(200):
                if not (numpy.asarray(add(ours, ours)) == 2 * value).all():
                    wrong.append(value)

        threads = [threading.Thread(target=work, args=(value,)) for value in (1.0, 2.0, 3.0)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Indices(unittest.TestCase):
    def test_slices_backwards(self):
        data = numpy.arange(24, dtype=numpy.float32).reshape(2, 3, 4)
        indices = [numpy.s_[::-1], numpy.s_[:, 2::-1], numpy.s_[:, :0:-1], numpy.s_[..., 3::-2], numpy.s_[:, -1:0:-1],
                   numpy.s_[..., ::-3], numpy.s_[:, -2:], numpy.s_[:, :-1, 1:100]]
        graph = lm.Graph()
        x = graph.input("x", (2, 3, 4))
        for i, index in enumerate(indices):
            x[index].output(str(i))
        for index, found in zip(indices, lm.compile(graph)(data)):
            numpy.testing.assert_array_equal(found, data[index], err_msg=str(index))

    def test_what_is_outside_is_an_index_error(self):
        x = lm.Graph().input("x", (2, 3))
        for index in (2, -3, (0, 3), (0, 0, 0), (..., 0, 0, 0)):
            with self.assertRaises(IndexError, msg=index):
                x[index]
        self.assertEqual([row.shape for row in x], [(3,), (3,)])
        with self.assertRaises(TypeError):
            iter(lm.Graph().input("x", (lm.var("n"),)))

    def test_ranges(self):
        graph = lm.Graph()
        for i, arguments in enumerate(((5,), (2, 7), (1, 10, 4))):
            graph.arange(*arguments).output(str(i))
        graph.arange(10, step=3).output("3")
        self.assertEqual([each.tolist() for each in lm.compile(graph)()],
                         [[0, 1, 2, 3, 4], [2, 3, 4, 5, 6], [1, 5, 9], [0, 3, 6, 9]])


class BesideNumPy(unittest.TestCase):
    def test_comparisons_are_by_element(self):
        graph = lm.Graph()
        x = graph.input("x", (3,), "i32")
        for i, each in enumerate((x == 2, x != 2, 2 == x, 5 & x, 1 << x)):
            each.output(str(i))
        self.assertEqual([each.tolist() for each in lm.compile(graph)([1, 2, 3])],
                         [[False, True, False], [True, False, True], [False, True, False], [1, 0, 1], [2, 4, 8]])
        self.assertEqual(len({x, x + 1, x}), 2)

    def test_arrays_are_no_operands(self):
        x = lm.Graph().input("x", (3,))
        with self.assertRaises(TypeError):
            numpy.ones(3) * x
        with self.assertRaises(TypeError):
            x * numpy.ones(3)

    def test_its_numbers_are(self):
        graph = lm.Graph()
        lm.maximum(graph.input("x", (2,)), numpy.float32(1.5)).output("y")
        self.assertEqual(lm.compile(graph)([1.0, 2.0]).tolist(), [1.5, 2.0])


class Scalars(unittest.TestCase):
    def test_numbers_of_numpy_are_numbers(self):
        graph = lm.Graph()
        x = graph.input("x", (numpy.int64(2),))
        (x * numpy.float64(math.pi)).output("y")
        numpy.testing.assert_allclose(lm.compile(graph)([1.0, 2.0]), [math.pi, 2 * math.pi], rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
