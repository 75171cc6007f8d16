"""TTFT and TPOT of a language model: this compiler and transformers, interleaved, two threads each.

  .venv/bin/python apps/bench/llm/generation.py BUILD_DIR MODEL [--rounds N] [--prompt N] [--new N] [--dtype bf16|f32]
                                            [--no-compile] [--json FILE]

MODEL is a folder in Hugging Face's layout that both read; random_llama.py writes one of the size of Llama-3.2-1B. A round
is one prompt and its new tokens by each side. TTFT is the time to the first token, TPOT the median time per token after
it; both are given as our time over the better of transformers' eager and torch.compile (static cache), the median over
rounds with a 95 % interval. The logits after the prompt are compared before anything is timed.
"""
import argparse
import json
import pathlib
import statistics
import sys
import tempfile
import time

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[3])
from apps.bench.harness import rounds as interleaving  # noqa: E402, before torch
import torch  # noqa: E402
from transformers import AutoModelForCausalLM, StaticCache  # noqa: E402

THREADS = 2


def prompt_of(length, vocabulary):
    return torch.tensor([[7919 * (k + 1) % vocabulary for k in range(length)]])


class Transformers:
    """Feeds the prompt, then generates tokens greedily."""

    def __init__(self, model, room, compiled):
        self.model, self.room = model, room
        self.prefill = self.step = model.forward
        if compiled:
            torch._dynamo.reset()
            self.prefill = torch.compile(model.forward, dynamic=False)
            self.step = torch.compile(model.forward, dynamic=False)

    def run(self, ids, new):
        cache = StaticCache(config=self.model.config, max_cache_len=self.room)
        start = time.perf_counter()
        out = self.prefill(ids, past_key_values=cache, use_cache=True, logits_to_keep=1,
                           cache_position=torch.arange(ids.shape[1]))
        token = out.logits[:, -1:].argmax(-1)
        times = [time.perf_counter() - start]
        for k in range(1, new):
            start = time.perf_counter()
            out = self.step(token, past_key_values=cache, use_cache=True,
                            cache_position=torch.tensor([ids.shape[1] + k - 1]))
            token = out.logits[:, -1:].argmax(-1)
            times.append(time.perf_counter() - start)
        return times

    def logits(self, ids):
        return self.model(ids, logits_to_keep=1).logits[0, -1].float()


def compared(ours, others):
    """Median and interval over rounds of our time divided by the best other time."""
    ratios = [own / min(rest) for own, *rest in zip(ours, *others)]
    low, high = interleaving.interval(ratios)
    return {"ratio": statistics.median(ratios), "low": low, "high": high}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", type=pathlib.Path)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--prompt", type=int, default=128)
    parser.add_argument("--new", type=int, default=32)
    parser.add_argument("--dtype", choices=interleaving.DTYPES, default="bf16")
    parser.add_argument("--no-compile", action="store_true", help="skip torch.compile, which takes minutes")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures to this file")
    arguments = parser.parse_args()
    torch.set_num_threads(THREADS)
    torch.set_grad_enabled(False)
    room = arguments.prompt + arguments.new
    ours = interleaving.Asked(arguments.build_dir / "apps/bench/generate_bench")
    print("ours:", " ".join(ours.ask(f"prepare {arguments.model} {arguments.dtype} {THREADS} {room}")), flush=True)
    model = AutoModelForCausalLM.from_pretrained(arguments.model, dtype=interleaving.DTYPES[arguments.dtype]).eval()
    ids = prompt_of(arguments.prompt, model.config.vocab_size)
    sides = {"ours": lambda: list(map(float, ours.ask(f"run {arguments.prompt} {arguments.new}")))}
    for name in ["eager"] if arguments.no_compile else ["eager", "compiled"]:
        side = Transformers(model, room, name == "compiled")
        sides[name] = lambda side=side: side.run(ids, arguments.new)
    for name, run in sides.items():
        start = time.perf_counter()
        run()
        print(f"{name}: first run {time.perf_counter() - start:.1f} s", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "logits"
        ours.ask(f"logits {file}")
        got = torch.frombuffer(bytearray(file.read_bytes()), dtype=torch.float32)
    want = Transformers(model, room, False).logits(ids)
    distance = float((got - want).abs().max() / want.std())
    print(f"logits differ by at most {distance:.3f} of their standard deviation", flush=True)
    first, after = {side: [] for side in sides}, {side: [] for side in sides}
    for number in range(arguments.rounds):
        for side, run in sides.items():
            time.sleep(interleaving.SETTLE_SECONDS)
            times = run()
            first[side].append(times[0])
            after[side].append(statistics.median(times[1:]))
        print(f"round {number + 1}: " + ", ".join(f"{side} {first[side][-1] * 1e3:.0f} / {after[side][-1] * 1e3:.1f} ms"
                                                  for side in sides), flush=True)
    others = [side for side in sides if side != "ours"]
    found = {"ttft": compared(first["ours"], [first[side] for side in others]),
             "tpot": compared(after["ours"], [after[side] for side in others]), "logits_differ": distance,
             "ttft_ms": {side: statistics.median(first[side]) * 1e3 for side in sides},
             "tpot_ms": {side: statistics.median(after[side]) * 1e3 for side in sides}}
    for name in ("ttft", "tpot"):
        print(f"{name}: {found[name]['ratio']:.2f} ({found[name]['low']:.2f} … {found[name]['high']:.2f}) of the better of "
              + ", ".join(others))
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
