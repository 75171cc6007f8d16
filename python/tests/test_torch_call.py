"""PyTorch's tensors in a call: read and updated where they are, weights folded again when they changed."""
import gc
import threading
import time
import unittest
import unittest.mock
import warnings
import weakref

import torch

import luminal as lm

DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64,
          "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool}


def call_of(graph, arguments, outputs, **options):
    return lm._core.TorchCall(lm.compile(graph), arguments, outputs, **options)


def aligned(*shape, dtype=torch.float32, shift=0):
    """Ones whose memory begins `shift` elements after a multiple of 64 bytes."""
    size = int(torch.Size(shape).numel())
    base = torch.ones(size + shift, dtype=dtype)
    assert base.data_ptr() % 64 == 0
    return base[shift:].view(shape)


class Inputs(unittest.TestCase):
    def test_every_dtype_and_shape(self):
        for name, dtype in DTYPES.items():
            for shape in ((), (0,), (1,), (3, 5), (2, 0, 3)):
                with self.subTest(name=name, shape=shape):
                    graph = lm.Graph()
                    x = graph.input("x", shape, name)
                    x.output("same")
                    lm.where(x == x, x, x).output("y")
                    call = call_of(graph, ["x"], ["same", "y"])
                    given = (torch.arange(torch.Size(shape).numel()) % 2).to(dtype).view(shape)
                    for result in call.call([given]):
                        self.assertEqual((result.dtype, result.shape, result.requires_grad), (dtype, given.shape, False))
                        self.assertTrue(torch.equal(result, given))
                        self.assertTrue(shape == () or 0 in shape or result.data_ptr() != given.data_ptr())
                    self.assertEqual(call.copied, [])

    def test_gradients_are_no_obstacle(self):
        graph = lm.Graph()
        (graph.input("x", (2,)) * 2).output("y")
        call = call_of(graph, ["x"], ["y"])
        self.assertEqual(call.call((torch.nn.Parameter(torch.ones(2)),))[0].tolist(), [2, 2])
        self.assertEqual(call.call([torch.ones(2, requires_grad=True) * 3])[0].tolist(), [6, 6])

    def test_sizes_come_from_dims_and_ints(self):
        graph = lm.Graph()
        n, k = lm.var("n", 0, 100), lm.var("k", 0, 100)
        x = graph.input("x", (n, 2))
        (x[:k] + graph.input("z", (1,))).output("y")
        call = call_of(graph, ["k", "x", "", "z"], ["y"])
        for rows, some in ((5, 3), (0, 0), (1, 1), (5, 3), (7, 0)):
            given = torch.randn(rows, 2)
            self.assertTrue(torch.equal(call.call([some, given, None, torch.ones(1)])[0], given[:some] + 1))
        with self.assertRaisesRegex(lm.UserError, r"argument 0 \('k'\) is the size of a dim; give an int"):
            call.call([1.0, torch.ones(5, 2), None, torch.ones(1)])

    def test_strides_and_offsets_are_copied_and_told(self):
        graph = lm.Graph()
        (graph.input("x", (3, 4)) + 0.5).output("y")
        call = call_of(graph, ["x"], ["y"])
        base = torch.randn(8, 8)
        for view, copied in ((base[:3, :4], True), (base.t()[:3, 1:5], True), (torch.randn(4).expand(3, 4), True),
                             (torch.randn(3, 4), False), (torch.randn(13)[1:].view(3, 4), False), (base[1:7:2, ::2], True)):
            self.assertTrue(torch.equal(call.call([view])[0], view + 0.5))
            self.assertEqual(call.copied, ["x"] if copied else [])

    def test_an_order_of_axes_saves_the_copy(self):
        graph = lm.Graph()
        x = graph.input("x", (2, 5, 7, 3))  # NHWC
        (x.permute((0, 3, 1, 2)) * 2).output("y")
        call = call_of(graph, ["x"], ["y"], orders={"x": [0, 2, 3, 1]})
        given = torch.randn(2, 3, 5, 7).to(memory_format=torch.channels_last)
        self.assertTrue(torch.equal(call.call([given])[0], given * 2))
        self.assertEqual(call.copied, [])
        self.assertTrue(torch.equal(call.call([given.contiguous()])[0], given * 2))
        self.assertEqual(call.copied, ["x"])
        with self.assertRaisesRegex(lm.UserError, "name each axis once"):
            call_of(graph, ["x"], ["y"], orders={"x": [0, 0, 1, 2]})


class Outputs(unittest.TestCase):
    def test_are_new_tensors_in_each_call(self):
        graph = lm.Graph()
        x = graph.input("x", (4,))
        y = x * 2
        y.output("a")
        y.output("b")
        call = call_of(graph, ["x"], ["a", "b"])
        first, again = call.call([torch.ones(4)])
        self.assertIs(first, again)
        second = call.call([torch.zeros(4)])[0]
        self.assertEqual((first.tolist(), second.tolist()), ([2] * 4, [0] * 4))
        del call, graph
        gc.collect()
        first.add_(1)
        self.assertEqual(first.tolist(), [3] * 4)

    def test_sizes_follow(self):
        graph = lm.Graph()
        n = lm.var("n", 1, 50)
        lm.concat([graph.input("x", (n,)), graph.input("y", (n * 2,))], 0).output("z")
        call = call_of(graph, ["x", "y"], ["z"])
        for size in (3, 1, 50, 3):
            self.assertEqual(call.call([torch.ones(size), torch.ones(2 * size)])[0].shape, (3 * size,))
        with self.assertRaises(lm.UserError):
            call.call([torch.ones(3), torch.ones(5)])


class Weights(unittest.TestCase):
    def setUp(self):
        graph = lm.Graph()
        w = graph.weight("w", (64, 64))
        (graph.input("x", (8, 64)) @ (w.t() * 0.5)).output("y")
        self.call = call_of(graph, ["w", "x"], ["y"])
        self.x = torch.randn(8, 64)
        self.w = torch.nn.Parameter(torch.randn(64, 64))

    def check(self, w=None):
        w = self.w if w is None else w
        torch.testing.assert_close(self.call.call([w, self.x])[0], self.x @ (w.detach().t() * 0.5), rtol=1e-4, atol=1e-4)

    def test_changes_that_pytorch_counts_are_seen(self):
        self.check()
        self.check()
        with torch.no_grad():
            self.w.mul_(3)
        self.check()
        self.w.data = torch.randn(64, 64)
        self.check()
        for _ in range(8):  # memory that is freed and used again has another owner
            self.w.data = self.w.data * 2
            self.w.data = torch.randn(64, 64)
            self.check()
        with torch.no_grad():
            self.w.add_(0)
        self.check()
        before, memory = self.w._version, self.w.data  # which counts its changes apart
        for _ in range(before):
            memory.mul_(2)
        other = torch.nn.Parameter(memory)
        self.assertEqual((other._version, other.data_ptr()), (before, self.w.data_ptr()))
        self.check(other)
        self.check(torch.randn(64, 64))
        self.check(torch.randn(64, 64).t())
        self.check()
        torch.optim.SGD([self.w], lr=0.5)
        (self.w.sum() * 2).backward()
        torch.optim.SGD([self.w], lr=0.5).step()
        self.check()

    def test_other_views_of_the_same_memory_are_seen(self):
        memory = self.w.data
        for view in (memory, memory.t(), memory, memory[:1].expand(64, 64), memory):
            self.w.data = view
            self.check()
            self.check()
        self.w.requires_grad_(False)
        self.w.data = memory.view(torch.int32)
        with self.assertRaisesRegex(lm.UserError, r"argument 0 \('w'\) is torch.int32"):
            self.check()

    def test_end_with_their_last_owner(self):
        self.check()
        gone = weakref.ref(self.w)
        self.w = torch.nn.Parameter(torch.randn(64, 64))
        self.assertIsNone(gone())
        self.check()

    def test_other_changes_are_seen_after_refresh(self):
        self.check()
        self.w.data.mul_(2)
        self.call.refresh()
        self.check()

    def test_are_folded_once(self):
        graph = lm.Graph()
        w = graph.weight("w", (1024, 1024))
        y = w
        for _ in range(3):
            y = lm.tanh(y @ y)
        (graph.input("x", (1, 1024)) @ y).output("y")
        call = call_of(graph, ["x", "w"], ["y"])
        x, w = torch.randn(1, 1024), torch.randn(1024, 1024) / 32

        def seconds():
            begin = time.perf_counter()
            call.call([x, w])
            return time.perf_counter() - begin
        seconds()
        kept = min(seconds() for _ in range(5))
        w.add_(0)
        self.assertGreater(seconds(), 5 * kept)

    def test_of_inference_mode_are_computed_in_every_call(self):
        with torch.inference_mode():
            w = torch.randn(64, 64)
        with self.assertWarnsRegex(UserWarning, "counts no changes of 'w'"):
            self.check(w)
        with torch.inference_mode():
            w.mul_(2)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.check(w)
            self.check(w)

    def test_of_two_callers_of_one_executable(self):
        graph = lm.Graph()
        (graph.input("x", (3,)) * graph.weight("w", (3,))).output("y")
        compiled = lm.compile(graph)
        calls = [lm._core.TorchCall(compiled, ["x", "w"], ["y"]) for _ in range(2)]
        weights = [torch.full((3,), 2.0), torch.full((3,), 3.0)]
        for i in (0, 1, 0, 0, 1):
            self.assertEqual(calls[i].call([torch.ones(3), weights[i]])[0].tolist(), weights[i].tolist())
        compiled.set("w", [5.0, 5.0, 5.0])
        self.assertEqual(calls[1].call([torch.ones(3), weights[1]])[0].tolist(), [3, 3, 3])

    def test_outlive_the_call(self):
        graph = lm.Graph()
        (graph.input("x", (1000,)) + graph.weight("w", (1000,))).output("y")
        compiled = lm.compile(graph)
        lm._core.TorchCall(compiled, ["x", "w"], ["y"]).call([torch.ones(1000), torch.full((1000,), 2.0)])
        gc.collect()
        noise = [torch.full((1000,), 7.0) for _ in range(20)]
        self.assertEqual(set(compiled([1.0] * 1000).tolist()), {3.0}, len(noise))


class WeightsByDocumentedWays(Weights):
    """The same where PyTorch's library lacks the functions that TensorReader asks for."""

    def setUp(self):
        with unittest.mock.patch.object(torch._C, "_aoti", None):
            super().setUp()


class States(unittest.TestCase):
    def make(self, shape=(4, 8), dtype="f32", **options):
        graph = lm.Graph()
        state = graph.state("state", shape, dtype)
        x = graph.input("x", (), dtype)
        graph.update(state, state + x)
        (state * 1).output("before")
        return call_of(graph, ["state", "x"], ["before"], **options)

    def test_are_updated_where_they_are(self):
        for name in ("f32", "bf16", "f16", "f64", "i64", "i32", "u8"):
            with self.subTest(name):
                call = self.make(dtype=name)
                state = aligned(4, 8, dtype=DTYPES[name])
                at, version = state.data_ptr(), state._version
                before = call.call([state, torch.tensor(2, dtype=DTYPES[name])])[0]
                call.call([state, torch.tensor(1, dtype=DTYPES[name])])
                self.assertEqual((set(before.flatten().tolist()), set(state.flatten().tolist())), ({1}, {4}))
                self.assertEqual((state.data_ptr(), call.copied), (at, []))
                self.assertGreater(state._version, version, "PyTorch knows that it changed")

    def test_with_strides_or_offsets_are_copied_both_ways(self):
        call = self.make()
        wide = torch.ones(8, 4)
        large = torch.zeros(10, 20)
        for state in (wide.t(), large[1:9:2, 3:19:2], aligned(4, 8, shift=1)):
            start = state.clone()
            for i in range(3):
                call.call([state, torch.tensor(1.0)])
                self.assertTrue(torch.equal(state, start + i + 1))
                self.assertEqual(call.copied, ["state"])
        self.assertEqual(large.sum(), 3 * 32, "nothing else was written")
        with self.assertRaisesRegex(lm.UserError, r"argument 0 \('state'\) is expanded"):
            call.call([torch.ones(8).expand(4, 8), torch.tensor(1.0)])

    def test_an_order_of_axes_saves_the_copy(self):
        call = self.make(orders={"state": [1, 0]})
        state = torch.arange(32.0).view(4, 8).t()
        self.assertEqual(call.call([state, torch.tensor(1.0)])[0][1][0], 8)
        self.assertEqual((state[3][0].item(), call.copied), (4, []))

    def test_follow_each_call(self):
        call = self.make()
        one, two = aligned(4, 8), aligned(4, 8)
        for i in range(1, 4):
            call.call([one, torch.tensor(1.0)])
            call.call([two, torch.tensor(2.0)])
            self.assertEqual((one[0][0].item(), two[3][7].item()), (1 + i, 1 + 2 * i))

    def test_an_input_over_a_state_is_its_value_before(self):
        graph = lm.Graph()
        state, x = graph.state("state", (64,)), graph.input("x", (64,))
        graph.update(state, state * 2)
        (x + 0.5).output("y")
        call = call_of(graph, ["state", "x"], ["y"])
        memory = aligned(100)
        result = call.call([memory[:64], memory[16:80]])[0]
        self.assertEqual(set(result.tolist()), {1.5})
        self.assertEqual((set(memory[:64].tolist()), set(memory[64:].tolist()), call.copied), ({2.0}, {1.0}, ["x"]))

    def test_that_share_memory_are_an_error(self):
        graph = lm.Graph()
        for name in "ab":
            state = graph.state(name, (16,))
            graph.update(state, state + 1)
        state.output("y")
        call = call_of(graph, ["a", "b"], ["y"])
        memory = aligned(24)
        with self.assertRaisesRegex(lm.UserError, "state 'a' overlaps that of 'b'"):
            call.call([memory[:16], memory[8:]])
        call.call([memory[:16], aligned(16)])
        self.assertEqual(memory.sum(), 24 + 16)

    def test_sizes_follow_and_zero_is_one(self):
        graph = lm.Graph()
        n = lm.var("n", 0, 100)
        state = graph.state("state", (n,))
        graph.update(state, state + 1)
        call = call_of(graph, ["state"], [])
        for size in (3, 0, 17, 3):
            given = aligned(size)
            self.assertEqual(call.call([given]), [])
            self.assertEqual(given.tolist(), [2.0] * size)


class Mistakes(unittest.TestCase):
    def test_name_the_argument(self):
        graph = lm.Graph()
        n = lm.var("n", 1, 10)
        (graph.input("x", (n, 3)) + graph.input("z", (n, 1))).output("y")
        call = call_of(graph, ["x", "z"], ["y"])
        good = [torch.ones(2, 3), torch.ones(2, 1)]
        for wrong, said in (
                ([torch.ones(2, 3, dtype=torch.float64), good[1]],
                 r"argument 0 \('x'\) is torch.float64, the graph was compiled for f32; convert it with .to\(\)"),
                ([good[0], torch.ones(2)], r"argument 1 \('z'\) has 1 dims, the graph was compiled for \[n, 1\]"),
                ([torch.ones(2, 4), good[1]], r"argument 0 \('x'\) is \[2, 4\], the graph was compiled for \[n, 3\]"),
                ([good[0], torch.ones(3, 1)], r"argument 1 \('z'\) makes the size 'n' 3, argument 0 \('x'\) makes it 2"),
                ([torch.ones(11, 3), torch.ones(11, 1)], r"n = 11 is outside its bounds 1 … 10"),
                ([good[0], torch.ones(2, 1, device="meta")], r"argument 1 \('z'\)"),
                ([good[0], good[1].to_sparse()], r"argument 1 \('z'\)"),
                ([good[0], torch.ones(2, 1, dtype=torch.complex64)], r"argument 1 \('z'\) is torch.complex64"),
                ([good[0], 3], r"argument 1 \('z'\) is a int; give a tensor of PyTorch"),
                ([good[0]], "a call takes 2 arguments, 1 were given")):
            with self.subTest(said), self.assertRaisesRegex(lm.UserError, said):
                call.call(wrong)
            self.assertEqual(call.call(good)[0].tolist(), [[2] * 3] * 2, "it works on")
        with self.assertRaisesRegex(TypeError, "one list or tuple"):
            call.call(good[0])

    def test_a_negative_view_is_refused(self):
        graph = lm.Graph()
        (graph.input("x", (3,)) * 1).output("y")
        with self.assertRaisesRegex(lm.UserError, "negative view"):
            call_of(graph, ["x"], ["y"]).call([torch.randn(3, dtype=torch.complex64).conj().imag])

    def test_of_names(self):
        graph = lm.Graph()
        graph.input("x", (3,)).output("y")
        for arguments, outputs, said in ((["a"], ["y"], "no input, weight, state or variable 'a'"),
                                         (["x"], ["b"], "no output 'b'; it has: y"),
                                         (["x", "x"], ["y"], "'x' is given by two arguments")):
            with self.assertRaisesRegex(lm.UserError, said):
                call_of(graph, arguments, outputs)

    def test_what_no_argument_gives_is_named(self):
        graph = lm.Graph()
        (graph.input("x", (3,)) + graph.input("z", (3,))).output("y")
        with self.assertRaisesRegex(lm.UserError, "input 'z' f32.3. was not set"):
            call_of(graph, ["x"], ["y"]).call([torch.ones(3)])


class Threads(unittest.TestCase):
    def test_take_turns_and_let_others_run(self):
        graph = lm.Graph()
        x = graph.input("x", (256, 256))
        y = x
        for _ in range(6):
            y = lm.tanh(y @ x)
        y.output("y")
        call = call_of(graph, ["x"], ["y"])
        given = [torch.randn(256, 256) / 16 * (i + 1) for i in range(3)]
        expected = [call.call([x])[0] for x in given]
        wrong = []

        def work(i):
            for _ in range(30):
                if not torch.equal(call.call([given[i]])[0], expected[i]):
                    wrong.append(i)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
        counted = 0
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            counted += 1
            time.sleep(0)
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertGreater(counted, 90, "this thread ran meanwhile")


if __name__ == "__main__":
    unittest.main()
