"""Programs of PyTorch with random weights, at the sizes that people run: whole models, decode steps, element-wise chains."""
import dataclasses
import typing

import torch
import torch.nn.functional as F
import transformers
from torch import nn

TOKENS = 128
CACHED = 256


@dataclasses.dataclass
class Program:
    module: nn.Module
    arguments: tuple
    reset: typing.Callable = lambda: None  # before each call: what an earlier one has changed


def tokens(config, count=TOKENS):
    return torch.randint(config.vocab_size, (1, count))


class Result(nn.Module):
    """The tensor that counts of a model's output, which has the tensor by name."""

    def __init__(self, model, name, **more):
        super().__init__()
        self.model, self.name, self.more = model, name, more

    def forward(self, *arguments):
        return self.model(*arguments, **self.more)[self.name]


def gpt2():
    config = transformers.GPT2Config()
    return Program(Result(transformers.GPT2LMHeadModel(config), "logits", use_cache=False), (tokens(config),))


def bert():
    config = transformers.BertConfig()
    return Program(Result(transformers.BertModel(config), "last_hidden_state"), (tokens(config),))


def vit():
    model = transformers.ViTModel(transformers.ViTConfig())
    return Program(Result(model, "last_hidden_state"), (torch.randn(1, 3, 224, 224),))


def resnet50():
    model = transformers.ResNetModel(transformers.ResNetConfig())
    return Program(Result(model, "last_hidden_state"), (torch.randn(1, 3, 224, 224),))


class Whisper(nn.Module):
    def __init__(self):
        super().__init__()
        config = transformers.WhisperConfig(
            d_model=384, encoder_layers=4, decoder_layers=4, encoder_attention_heads=6, decoder_attention_heads=6,
            encoder_ffn_dim=1536, decoder_ffn_dim=1536)
        self.model = transformers.WhisperForConditionalGeneration(config)

    def forward(self, features, ids):
        return self.model(input_features=features, decoder_input_ids=ids, use_cache=False)["logits"]


def whisper_tiny():
    return Program(Whisper(), (torch.randn(1, 80, 3000), torch.randint(50_000, (1, 8))))


def qwen3_config():
    return transformers.Qwen3Config(
        vocab_size=151_936, hidden_size=1024, intermediate_size=3072, num_hidden_layers=28, num_attention_heads=16,
        num_key_value_heads=8, head_dim=128, tie_word_embeddings=True)


def qwen3():
    config = qwen3_config()
    return Program(Result(transformers.Qwen3ForCausalLM(config), "logits", use_cache=False, logits_to_keep=1), (tokens(config),))


class Step(nn.Module):
    """One token after `TOKENS` cached ones; the cache is written in place."""

    def __init__(self, model):
        super().__init__()
        self.model = model
        self.cache = transformers.StaticCache(config=model.config, max_cache_len=CACHED)

    def prefill(self, ids):
        self.model(input_ids=ids, past_key_values=self.cache, use_cache=True)

    def reset(self):
        for layer in self.cache.layers:
            layer.cumulative_length.fill_(TOKENS)

    def forward(self, ids, position):
        return self.model(input_ids=ids, position_ids=position, past_key_values=self.cache, use_cache=True)["logits"]


def step_of(model):
    step = Step(model)
    return Program(step, (tokens(model.config, 1), torch.tensor([[TOKENS]])), step.reset)


def qwen3_step():
    return step_of(transformers.Qwen3ForCausalLM(qwen3_config()))


def gpt2_step():
    return step_of(transformers.GPT2LMHeadModel(transformers.GPT2Config()))


class Gated(nn.Module):
    """Two gates, each a chain of element-wise functions."""

    def forward(self, x, y):
        a = F.silu(x) * y + 0.5 * x
        b = torch.tanh(a * 0.7978 * (1 + 0.0447 * a * a))
        return torch.sigmoid(b) * y - F.gelu(a, approximate="tanh") * x.clamp(-3, 3)


class Normed(nn.Module):
    """A residual, a norm, a gate and a second norm."""

    def __init__(self, width):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.RMSNorm(width)

    def forward(self, x, y):
        h = self.first(x + y)
        return self.second(h * torch.sigmoid(h) + x) * 0.5 + y


class Rotated(nn.Module):
    """Rotary embedding of all heads, and a softmax by rows."""

    def forward(self, x, y):
        angle = y * 0.01
        half = x.shape[-1] // 2
        turned = torch.cat((-x[..., half:], x[..., :half]), -1)
        return torch.softmax(x * angle.cos() + turned * angle.sin(), -1)


def chain(module):
    return lambda: Program(module(), (torch.randn(1024, 2048), torch.randn(1024, 2048)))


MODELS = {"gpt2": gpt2, "bert": bert, "vit-b16": vit, "resnet50": resnet50, "whisper-tiny": whisper_tiny, "qwen3-0.6b": qwen3}
STEPS = {"qwen3-0.6b-step": qwen3_step, "gpt2-step": gpt2_step}
CHAINS = {"gated": chain(Gated), "normed": chain(lambda: Normed(2048)), "rotated": chain(Rotated)}
PROGRAMS = {**MODELS, **STEPS, **CHAINS}
BF16 = {"qwen3-0.6b-step"}  # the others are f32


def converted(value, dtype):
    return value.to(dtype) if torch.is_tensor(value) and value.is_floating_point() else value


def build(name, dtype):
    """The same weights and arguments in every process."""
    torch.manual_seed(0)
    program = PROGRAMS[name]()
    program.module.eval().to(dtype)
    program.arguments = tuple(converted(value, dtype) for value in program.arguments)
    if isinstance(program.module, Step):
        program.module.prefill(tokens(program.module.model.config))
    return program
