"""The transformers model, eager or through torch.compile; shared by three paths."""
from .. import measuring


def load_model(request):
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

    def __init__(self, torch, model, request, backend, options):
        from transformers import StaticCache
        self.torch, self.model = torch, model
        self.length = request.prompt_tokens
        ids = measuring.prompt_ids(self.length, model.config.vocab_size)
        self.ids = torch.tensor([ids])
        self.new_cache = lambda: StaticCache(config=model.config, max_cache_len=request.max_cache_len)
        self.first = self.next = model.forward
        if backend is not None:  # two functions with one shape each, so that neither is recompiled
            self.first = torch.compile(model.forward, dynamic=False, backend=backend, options=options)
            self.next = torch.compile(model.forward, dynamic=False, backend=backend, options=options)

    def likeliest(self, out):
        return int(out.logits[0, -1].argmax())

    def prompt(self):
        return self.first(self.ids, past_key_values=self.cache, use_cache=True, logits_to_keep=1,
                          position_ids=self.torch.arange(self.length)[None])

    def prefill(self):
        return self.likeliest(self.prompt())

    def step(self, token, k):
        out = self.next(self.torch.tensor([[token]]), past_key_values=self.cache, use_cache=True, logits_to_keep=1,
                        position_ids=self.torch.tensor([[self.length + k]]))
        return self.likeliest(out)

    def run(self, new):
        self.cache = self.new_cache()
        return measuring.timed_generation(self.prefill, self.step, new)

    def logits(self):
        self.cache = self.new_cache()
        return self.prompt().logits[0, -1].float().numpy()


def load(request, backend, options=None):
    """Compile time: the time of the first run in excess of the second."""
    torch, model = load_model(request)
    generation = Generation(torch, model, request, backend, options)
    compiled = None
    if backend is not None:
        measuring.say("compiling")
        first, second = (sum(generation.run(measuring.warm_up_tokens(request))[0]) for _ in range(2))
        compiled = max(0.0, first - second)
    return measuring.Loaded(generation.run, compiled, logits=generation.logits)
