"""The LLM suite's paths on a tiny model: those that are installed make the same tokens from the same weights.

usage: paths_test.py BUILD_DIR
"""
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))
from apps.bench.llm import measuring, results, runner, settings, weights  # noqa: E402
from apps.bench.llm.paths import PATHS  # noqa: E402

NEW = 8  # after a prompt of 16, where no token is nearly as likely as the first: paths that round activations agree
NEEDED = ("luminal", "eager")  # the others where they are installed; inductor's compiler takes too long for this
SLOW = ("inductor",)


def main(build_dir):
    model = settings.read().models["tiny"]
    with tempfile.TemporaryDirectory() as folder:
        made = weights.Weights(pathlib.Path(folder), pathlib.Path("/nowhere"), 1 << 40)
        for dtype in ("f32", "q8_0"):
            tokens = {}
            for path in PATHS:
                if dtype not in path.dtypes or path.name in SLOW:
                    continue
                asked = results.Settings(folder=str(made.folder_of(model)[0]), gguf=str(made.gguf_of(model, dtype)),
                                         dtype=dtype, prompt_tokens=16, decode_tokens=NEW, max_cache_len=16 + NEW + 1,
                                         threads=1, warmups=1)
                request = results.Request(path.name, asked, iters=2, build_dir=build_dir)
                result = runner.run(path, request, runner.Limits(seconds=240)).result
                if result.status == results.ABSENT and path.name not in NEEDED:
                    print(f"{dtype} {path.name}: absent: {result.error}")
                    continue
                assert result.status == results.OK, f"{dtype} {path.name}: {result.status}: {result.error}"
                assert (len(result.ttft_samples), len(result.tpot_samples)) == (2, NEW), result
                assert all(value > 0 for value in result.ttft_samples + result.tpot_samples), result
                tokens[path.name] = result.tokens
                print(f"{dtype} {path.name}: {result.tokens}", flush=True)
            assert len(tokens["luminal"]) == NEW + 1
            different = {name: found for name, found in tokens.items() if found != tokens["luminal"]}
            assert not different, f"{dtype}: luminal makes {tokens['luminal']}, others {different}"


if __name__ == "__main__":
    assert measuring.prompt_ids(3, 512) == [7919 % 512, 2 * 7919 % 512, 3 * 7919 % 512]
    main(sys.argv[1])
