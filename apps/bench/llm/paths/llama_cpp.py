"""llama.cpp on the GGUF file, through its C API: its Python classes would also tokenise and sample."""
import ctypes

import numpy

from .. import measuring

BATCH = 512  # llama.cpp's default: the prompt is split into batches of this size


def load_library():
    try:
        import llama_cpp
    except (ImportError, OSError, RuntimeError) as error:
        raise measuring.Absent(f"{error}: tools/install-deps.sh --peers builds it") from error
    return llama_cpp


class Context:
    """A model with a cache for one sequence."""

    def __init__(self, library, request):
        self.library = library
        self.quiet = library.llama_log_callback(lambda level, text, data: None)  # keeps it alive: the library calls it later
        library.llama_log_set(self.quiet, ctypes.c_void_p(0))
        library.llama_backend_init()
        parameters = library.llama_model_default_params()
        parameters.n_gpu_layers = 0
        self.model = library.llama_model_load_from_file(request.gguf.encode(), parameters)
        if not self.model:
            raise RuntimeError(f"llama.cpp can't load {request.gguf}")
        parameters = library.llama_context_default_params()
        parameters.n_ctx = request.max_cache_len
        parameters.n_batch = parameters.n_ubatch = BATCH
        parameters.n_threads = parameters.n_threads_batch = request.threads
        parameters.no_perf = True
        self.context = library.llama_init_from_model(self.model, parameters)
        if not self.context:
            raise RuntimeError("llama.cpp: failed to allocate a context")
        self.vocabulary = library.llama_vocab_n_tokens(library.llama_model_get_vocab(self.model))

    def clear(self):
        self.library.llama_memory_clear(self.library.llama_get_memory(self.context), False)

    def likeliest_after(self, ids):
        """Feeds tokens to the sequence; returns the most likely next token."""
        for start in range(0, len(ids), BATCH):
            piece = ids[start:start + BATCH]
            tokens = (self.library.llama_token * len(piece))(*piece)  # named to keep it alive: the batch only points to it
            batch = self.library.llama_batch_get_one(tokens, len(piece))
            code = self.library.llama_decode(self.context, batch)
            if code != 0:
                raise RuntimeError(f"llama_decode gave {code}")
        logits = self.library.llama_get_logits_ith(self.context, -1)
        return int(numpy.ctypeslib.as_array(logits, shape=(self.vocabulary,)).argmax())


def load(request):
    library = load_library()
    context = Context(library, request)
    ids = measuring.prompt_ids(request.prompt_tokens, context.vocabulary)

    def run(new):
        context.clear()
        return measuring.timed_generation(lambda: context.likeliest_after(ids),
                                          lambda token, k: context.likeliest_after([token]), new)

    return measuring.Loaded(run, note=f"llama-cpp-python {library.__version__}")


if __name__ == "__main__":
    measuring.serve_path("llama.cpp", load)
