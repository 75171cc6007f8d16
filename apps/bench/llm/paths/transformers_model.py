"""The transformers model, eager or through torch.compile; shared by three paths."""
import statistics
import time

from .. import measuring


def load(request):
    """(torch, the model) with the requested dtype and threads."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise measuring.Absent(f"{error}: run tools/install-deps.sh --test") from error
    torch.set_num_threads(request.threads)
    torch.set_grad_enabled(False)
    transformers.logging.set_verbosity_error()
    dtype = {"bf16": torch.bfloat16, "f32": torch.float32}[request.dtype]
    model = transformers.AutoModelForCausalLM.from_pretrained(request.folder, dtype=dtype).eval()
    return torch, model


class Generation:
    """Feeds the prompt, then generates tokens greedily, with a static cache."""

    def __init__(self, torch, model, request, backend):
        from transformers import StaticCache
        self.torch, self.model = torch, model
        self.length = request.prompt_tokens
        ids = measuring.prompt_ids(self.length, model.config.vocab_size)
        self.ids = torch.tensor([ids])
        self.new_cache = lambda: StaticCache(config=model.config, max_cache_len=request.max_cache_len)
        self.first = self.next = model.forward
        if backend is not None:  # two functions with one shape each, so that neither is recompiled
            self.first = torch.compile(model.forward, dynamic=False, backend=backend)
            self.next = torch.compile(model.forward, dynamic=False, backend=backend)

    def likeliest(self, out):
        return int(out.logits[0, -1].argmax())

    def prefill(self):
        out = self.first(self.ids, past_key_values=self.cache, use_cache=True, logits_to_keep=1,
                         position_ids=self.torch.arange(self.length)[None])
        return self.likeliest(out)

    def step(self, token, k):
        out = self.next(self.torch.tensor([[token]]), past_key_values=self.cache, use_cache=True, logits_to_keep=1,
                        position_ids=self.torch.tensor([[self.length + k]]))
        return self.likeliest(out)

    def run(self, new):
        self.cache = self.new_cache()
        return measuring.timed_generation(self.prefill, self.step, new)


def measure(request, backend):
    """Compile time: the time of the first runs in excess of later ones."""
    torch, model = load(request)
    generation = Generation(torch, model, request, backend)
    spent = 0.0
    if backend is not None:
        measuring.say(f"compiling with {backend}")
        start = time.perf_counter()
        generation.run(min(4, request.decode_tokens + 1))
        spent = time.perf_counter() - start
    result = measuring.measured(request, generation.run)
    if backend is not None:
        usual = statistics.median(result.ttft_samples) + 3 * statistics.median(result.tpot_samples)
        result.compile_ms = max(0.0, 1e3 * spent - usual)
    return result
