"""Arrays in and out: shared where they are contiguous, never converted in silence."""
import unittest

import numpy
import numpy.testing
import torch

import luminal as lm

DTYPES = {"f64": numpy.float64, "f32": numpy.float32, "f16": numpy.float16, "i64": numpy.int64, "i32": numpy.int32,
          "i16": numpy.int16, "i8": numpy.int8, "u8": numpy.uint8, "bool": numpy.bool_}


class FromNumPy(unittest.TestCase):
    def test_every_dtype_is_shared_both_ways(self):
        for name, dtype in DTYPES.items():
            for shape in ((), (0,), (1,), (3, 5), (2, 0, 3)):
                with self.subTest(name=name, shape=shape):
                    data = (numpy.arange(numpy.prod(shape, dtype=int)) % 2).astype(dtype).reshape(shape)
                    array = lm.array(data)
                    self.assertEqual((array.dtype, array.shape), (getattr(lm.DType, name), shape))
                    back = numpy.asarray(array)
                    self.assertEqual((back.dtype, back.shape), (data.dtype, data.shape))
                    numpy.testing.assert_array_equal(back, data)
                    if data.size:
                        self.assertEqual(array.address, data.ctypes.data)
                        self.assertEqual(back.ctypes.data, data.ctypes.data)

    def test_a_strided_array_is_copied(self):
        data = numpy.arange(24, dtype=numpy.float32).reshape(4, 6)
        for view in (data.T, data[::2], data[:, 1::2], data[::-1], data[1:3, 2:3]):
            numpy.testing.assert_array_equal(lm.array(view), view)

    def test_the_elements_live_as_long_as_the_array(self):
        array = lm.array(numpy.full(1000, 7.0, numpy.float32))
        numpy.zeros(1000)
        self.assertEqual(set(array.tolist()), {7.0})

    def test_a_read_only_array_is_taken(self):
        data = numpy.arange(3.0, dtype=numpy.float32)
        data.flags.writeable = False
        self.assertEqual(lm.array(data).tolist(), [0, 1, 2])

    def test_another_dtype_is_an_error(self):
        graph = lm.Graph()
        graph.input("x", (2,)).output("y")
        exe = lm.compile(graph)
        with self.assertRaisesRegex(lm.UserError, "it is f32, the data is f64; cast the data"):
            exe(numpy.zeros(2))
        with self.assertRaisesRegex(lm.UserError, "is no array on the CPU"):
            exe("text")


class FromTorch(unittest.TestCase):
    def test_tensors_are_shared_both_ways(self):
        for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.bool):
            with self.subTest(dtype):
                data = torch.tensor([[0, 1, 1], [1, 0, 1]]).to(dtype)
                array = lm.array(data)
                self.assertEqual(array.address, data.data_ptr())
                back = torch.from_dlpack(array)
                self.assertEqual((back.dtype, back.data_ptr()), (dtype, data.data_ptr()))
                self.assertTrue(torch.equal(back, data))

    def test_a_call_reads_and_writes_bf16(self):
        graph = lm.Graph()
        (graph.input("x", (4,), "bfloat16") * 2).output("y")
        result = torch.from_dlpack(lm.compile(graph)(torch.arange(4).to(torch.bfloat16)))
        self.assertEqual((result.dtype, result.tolist()), (torch.bfloat16, [0, 2, 4, 6]))

    def test_numpy_has_no_bf16(self):
        with self.assertRaisesRegex(lm.UserError, "NumPy has no bf16"):
            lm.array([1.0], "bf16").numpy()
        self.assertEqual(lm.array([1.5], "bf16").astype("f32").numpy().tolist(), [1.5])

    def test_gradients_are_no_obstacle(self):
        parameter = torch.ones(2, requires_grad=True)
        self.assertEqual(lm.array(parameter).address, parameter.data_ptr())


class FromLists(unittest.TestCase):
    def test_the_dtype_follows_the_numbers(self):
        for values, dtype in (([1, 2], lm.i64), ([1, 2.5], lm.f32), ([True, False], lm.DType.bool), (3, lm.i64), (2.5, lm.f32)):
            self.assertEqual(lm.array(values).dtype, dtype, values)
            self.assertEqual(lm.array(values).tolist(), values)

    def test_ragged_lists_are_refused(self):
        for values in ([[1], [1, 2]], [[1], 2], [1, [2]], [1, "x"]):
            with self.assertRaises(lm.UserError, msg=values):
                lm.array(values)

    def test_floats_are_no_integers(self):
        with self.assertRaisesRegex(lm.UserError, "floats were given for i32"):
            lm.array([1.5], "i32")


    def test_numbers_that_do_not_fit_are_refused(self):
        for values, dtype in (([300], "i8"), ([-1], "u8"), ([2], "bool"), ([2 ** 63], "i64")):
            with self.assertRaises(lm.UserError, msg=(values, dtype)):
                lm.array(values, dtype)
        endless = []
        endless.append(endless)
        with self.assertRaisesRegex(lm.UserError, "too deeply"):
            lm.array(endless)
        with self.assertRaisesRegex(lm.UserError, "there is no dtype 'f33'; there are: f64, f32"):
            lm.array([1], "f33")

    def test_read_only_memory_stays_so(self):
        data = numpy.arange(3.0, dtype=numpy.float32)
        data.flags.writeable = False
        self.assertFalse(lm.array(data).astype("f32").numpy().flags.writeable)
        self.assertTrue(lm.array(data).astype("f64").numpy().flags.writeable)
        self.assertTrue(lm.array([1.0]).numpy().flags.writeable)


class Rows(unittest.TestCase):
    def test_rows_are_in_the_same_memory(self):
        array = lm.array([[1, 2], [3, 4], [5, 6]])
        self.assertEqual(([row.tolist() for row in array], array[-1].tolist()), ([[1, 2], [3, 4], [5, 6]], [5, 6]))
        self.assertEqual(array[1].address, array.address + 16)
        self.assertEqual(array[1][0].item(), 3)
        with self.assertRaises(IndexError):
            array[3]


class Items(unittest.TestCase):
    def test_one_element_is_a_number(self):
        self.assertEqual((lm.array(3).item(), float(lm.array(2.5)), int(lm.array([7]))), (3, 2.5, 7))
        with self.assertRaisesRegex(lm.UserError, "has 2; tolist"):
            lm.array([1, 2]).item()
        self.assertEqual(len(lm.array([[1, 2]])), 1)
        self.assertEqual(repr(lm.array([1, 2])), "luminal.Array([1, 2], i64[2])")


if __name__ == "__main__":
    unittest.main()
