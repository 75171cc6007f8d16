"""How far a contestant's result is from the wanted one."""
import numpy

EPSILON = {"f32": 2.0 ** -23, "bf16": 2.0 ** -7}


def process_of(module, threads):
    """The command of a module, and options for its process: PyTorch's fastest settings."""
    environment = {**os.environ, **HEAP, "OMP_NUM_THREADS": str(threads), "PYTHONDONTWRITEBYTECODE": "1"}
    return [sys.executable, "-m", module], {"cwd": ROOT, "env": environment}


def decoded(path, dtype):
    """The elements of a file that a contestant wrote, as f64."""
    data = path.read_bytes()
    if dtype == "bf16":
        return (numpy.frombuffer(data, "<u2").astype(numpy.uint32) << 16).view(numpy.float32).astype(numpy.float64)
    return numpy.frombuffer(data, {"f32": "<f4", "f64": "<f8", "bool": "?"}[dtype]).astype(numpy.float64)


def difference(got_file, dtype, want_file):
    """The largest error of a result of this dtype, in units of its resolution at the magnitude of the results; the
    wanted ones are f64."""
    got, want = decoded(got_file, dtype), decoded(want_file, "f64")
    if got.shape != want.shape:
        return numpy.inf
    if dtype == "bool":
        return float((got != want).sum())
    if not numpy.array_equal(numpy.isnan(got), numpy.isnan(want)):
        return numpy.inf
    got, want = numpy.nan_to_num(got, nan=0.0), numpy.nan_to_num(want, nan=0.0)
    return float((numpy.abs(got - want) / (EPSILON[dtype] * (numpy.abs(want) + numpy.sqrt(numpy.square(want).mean())))).max())
