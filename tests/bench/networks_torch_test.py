"""The networks of apps/bench/networks, small: ours and the other runtimes compute what PyTorch does from the same weights.

usage: networks_torch_test.py NETWORKS_BENCH
"""
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from apps.bench.harness.contestant import Contestant  # noqa: E402
from apps.bench.harness.difference import difference  # noqa: E402
from apps.bench.harness.protocol import ABSENT, Refusal  # noqa: E402
from apps.bench.harness.torch_process import process_of  # noqa: E402
from apps.bench.networks.networks import NETWORKS, size_of  # noqa: E402

MOST_EPS = 64
PEERS = ("onnxruntime", "openvino")  # inductor's compiler takes too long for this


def peer(name):
    command, options = process_of("apps.bench.networks.peers", 1)
    return Contestant([*command, name], **options)


def results(network, folder, contestants):
    """Files by contestant; PyTorch's, "wanted", has f64."""
    size = {**size_of(network, small=True), "threads": 1}
    contestants["eager"].run(network, times=0, settings={**size, "inputs": str(folder)}, write=folder / "wanted")
    for name, contestant in contestants.items():
        if name == "eager":
            continue
        settings = {**size, "plan": "searched", "inputs": str(folder)} if name == "luminal" else size
        contestant.run(network, times=1, settings=settings, write=folder / name)
        yield name


def main(program):
    contestants = {"eager": peer("eager"), "luminal": Contestant([program])}
    for name in PEERS:
        try:
            contestants[name] = peer(name)
        except Refusal as refusal:
            assert refusal.status == ABSENT, refusal.text()
            print(f"{name}: absent: {refusal}")
    for network in NETWORKS:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name in results(network, folder, contestants):
                distance = difference(folder / name, "f32", folder / "wanted")
                print(f"{network} {name}: differs by {distance:.1f} eps", flush=True)
                assert distance < MOST_EPS, f"{network} by {name} differs by {distance} eps"
    for contestant in contestants.values():
        contestant.quit()


if __name__ == "__main__":
    main(sys.argv[1])
