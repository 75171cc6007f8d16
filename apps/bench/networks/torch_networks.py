"""The networks of networks.h in PyTorch, in inference, with the same names of weights."""
import math

import torch
import torch.nn.functional as F
from torch import nn

CLASSES = 1000


class Size:
    """Smaller than published, as NetworkSize in networks.h."""

    def __init__(self, pixels=0, narrower=1, repeats=100):
        self.pixels, self.narrower, self.repeats = pixels, narrower, repeats


def conv(x, out, kernel, stride=1, padding=0, groups=1, bias=True):
    return nn.Conv2d(x, out, kernel, stride, padding, groups=groups, bias=bias)


def same(kernel):
    return tuple(size // 2 for size in kernel) if isinstance(kernel, tuple) else kernel // 2


class ConvNorm(nn.Module):
    """The statistics of the batch norm are 0 and 1: a scale and a shift remain."""

    def __init__(self, x, out, kernel, stride=1, padding=None, groups=1):
        super().__init__()
        self.conv = conv(x, out, kernel, stride, same(kernel) if padding is None else padding, groups, bias=False)
        self.norm = nn.BatchNorm2d(out, eps=0.0)

    def forward(self, x):
        return self.norm(self.conv(x))


class ConvNormRelu(ConvNorm):
    def forward(self, x):
        return F.relu(super().forward(x))


class Vgg19(nn.Module):
    STAGES = ((2, 64), (2, 128), (4, 256), (4, 512), (4, 512))

    def __init__(self, size):
        super().__init__()
        self.counts = [min(count, size.repeats) for count, _ in self.STAGES]
        self.features, before = nn.ModuleList(), 3
        for count, (_, width) in zip(self.counts, self.STAGES):
            for _ in range(count):
                self.features.append(conv(before, width // size.narrower, 3, padding=1))
                before = width // size.narrower
        pixels, wide = (size.pixels or 224) // 32, 4096 // size.narrower
        self.fc1 = nn.Linear(before * pixels * pixels, wide)
        self.fc2 = nn.Linear(wide, wide)
        self.fc3 = nn.Linear(wide, CLASSES // size.narrower)

    def forward(self, x):
        layers = iter(self.features)
        for count in self.counts:
            for _ in range(count):
                x = F.relu(next(layers)(x))
            x = F.max_pool2d(x, 2)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x.flatten(1))))))


class Fire(nn.Module):
    def __init__(self, x, few):
        super().__init__()
        self.squeeze = conv(x, few, 1)
        self.expand1 = conv(few, 4 * few, 1)
        self.expand3 = conv(few, 4 * few, 3, padding=1)

    def forward(self, x):
        x = F.relu(self.squeeze(x))
        return torch.cat([F.relu(self.expand1(x)), F.relu(self.expand3(x))], 1)


class SqueezeNet(nn.Module):
    SQUEEZED = ((16, 16), (32, 32), (48, 48, 64, 64))

    def __init__(self, size):
        super().__init__()
        before = 64 // size.narrower
        self.stem = conv(3, before, 3, stride=2)
        self.counts = [min(len(few), size.repeats) for few in self.SQUEEZED]
        self.fires = nn.ModuleList()
        for count, squeezed in zip(self.counts, self.SQUEEZED):
            for few in squeezed[:count]:
                self.fires.append(Fire(before, few // size.narrower))
                before = 8 * (few // size.narrower)
        self.head = conv(before, CLASSES // size.narrower, 1)

    def forward(self, x):
        fires = iter(self.fires)
        x = F.relu(self.stem(x))
        for count in self.counts:
            x = F.max_pool2d(x, 3, stride=2)
            for _ in range(count):
                x = next(fires)(x)
        return F.relu(self.head(x)).mean((2, 3))


class Bottleneck(nn.Module):
    def __init__(self, x, width, stride, groups):
        super().__init__()
        self.conv1 = ConvNormRelu(x, width, 1)
        self.conv2 = ConvNormRelu(width, width, 3, stride, groups=groups)
        self.conv3 = ConvNorm(width, 2 * width, 1)
        self.shortcut = ConvNorm(x, 2 * width, 1, stride) if stride > 1 or x != 2 * width else nn.Identity()

    def forward(self, x):
        return F.relu(self.conv3(self.conv2(self.conv1(x))) + self.shortcut(x))


class ResNeXt50(nn.Module):
    BLOCKS = (3, 4, 6, 3)

    def __init__(self, size):
        super().__init__()
        width, before = 128 // size.narrower, 64 // size.narrower
        groups = width // 4
        self.stem = ConvNormRelu(3, before, 7, 2)
        for stage, count in enumerate(self.BLOCKS):
            blocks = nn.ModuleList()
            for i in range(min(count, size.repeats)):
                blocks.append(Bottleneck(before, width << stage, 2 if stage > 0 and i == 0 else 1, groups))
                before = 2 * (width << stage)
            setattr(self, f"blocks{stage}", blocks)
        self.fc = nn.Linear(before, CLASSES // size.narrower)

    def forward(self, x):
        x = F.max_pool2d(self.stem(x), 3, stride=2, padding=1)
        for stage in range(len(self.BLOCKS)):
            for block in getattr(self, f"blocks{stage}"):
                x = block(x)
        return self.fc(x.mean((2, 3)))


class NasStep(nn.Module):
    def __init__(self, features):
        super().__init__()
        linears = lambda: nn.ModuleList(nn.Linear(features, features, bias=False) for _ in range(8))
        self.x, self.state = linears(), linears()

    def forward(self, x, state):
        t = [of_x(x) + of_state(state) for of_x, of_state in zip(self.x, self.state)]
        a = F.relu(t[0]) + torch.sigmoid(t[3])
        b = torch.sigmoid(t[1]) + torch.tanh(t[2])
        c = torch.sigmoid(t[4]) * torch.tanh(t[5])
        d = torch.sigmoid(t[6]) * F.relu(t[7])
        e = torch.sigmoid(b) + torch.tanh(c)
        f = torch.tanh(a) * torch.tanh(d)
        return torch.tanh(torch.tanh(e) * torch.tanh(f))


class NasRnn(nn.Module):
    STEPS, FEATURES = 5, 512

    def __init__(self, size):
        super().__init__()
        features = self.FEATURES // size.narrower
        self.state = nn.Parameter(torch.zeros(1, features))
        self.steps = nn.ModuleList(NasStep(features) for _ in range(min(self.STEPS, size.repeats)))

    def forward(self, x):
        state = self.state
        for i, step in enumerate(self.steps):
            state = step(x[i:i + 1], state)
        return state


class Separable(nn.Module):
    def __init__(self, n, kernel, stride=1):
        super().__init__()
        self.depthwise = conv(n, n, kernel, stride, same(kernel), groups=n, bias=False)
        self.pointwise = ConvNorm(n, n, 1)

    def forward(self, x):
        return self.pointwise(self.depthwise(x))


def averages(x, stride=1):
    return F.avg_pool2d(x, 3, stride=stride, padding=1)


def maxima(x):
    return F.max_pool2d(x, 3, stride=2, padding=1)


class Cell(nn.Module):
    """A normal cell, or one that halves the image."""

    def __init__(self, before, now, n, convolutions):
        super().__init__()
        self.now, self.before = ConvNormRelu(now, n, 1), ConvNormRelu(before, n, 1)
        for i, (kernel, stride) in enumerate(convolutions):
            self.add_module(str(i), Separable(n, kernel, stride))

    def conv(self, i, x):
        return getattr(self, str(i))(x)


class NormalCell(Cell):
    def __init__(self, before, now, n):
        super().__init__(before, now, n, [(3, 1)] * 5)

    def forward(self, before, now):
        x, p, conv = self.now(now), self.before(before), self.conv
        return torch.cat([conv(0, x) + x, conv(1, p) + conv(2, x), averages(x) + p, averages(p) + averages(p),
                          conv(3, p) + conv(4, p)], 1)


class ReductionCell(Cell):
    def __init__(self, before, now, n):
        super().__init__(before, now, n, [(7, 2), (5, 2), (7, 2), (5, 2), (3, 1)])

    def forward(self, before, now):
        x, p, conv = self.now(now), self.before(before), self.conv
        first = conv(0, p) + conv(1, x)
        second = maxima(x) + conv(2, p)
        return torch.cat([first, second, averages(x, 2) + conv(3, p), maxima(x) + conv(4, first),
                          averages(first) + second], 1)


class NasNetA(nn.Module):
    STAGES, NORMAL_CELLS, CHANNELS = 3, 5, 128

    def __init__(self, size):
        super().__init__()
        before = now = 64 // size.narrower
        self.stem, self.cells = ConvNormRelu(3, now, 7, 2), nn.ModuleList()
        for stage in range(self.STAGES):
            n = (self.CHANNELS << stage) // size.narrower
            for _ in range(min(self.NORMAL_CELLS, size.repeats)):
                self.cells.append(NormalCell(before, now, n))
                before, now = now, 5 * n
            self.cells.append(ReductionCell(before, now, 2 * n))
            before = now = 10 * n

    def forward(self, x):
        before = now = maxima(self.stem(x))
        for cell in self.cells:
            after = cell(before, now)
            before, now = (after, after) if isinstance(cell, ReductionCell) else (now, after)
        return now


class Rows(nn.ModuleList):
    """Rows of convolutions, numbered; a layer is (channels, kernel), or (channels, kernel, stride, padding)."""

    def __init__(self, narrower):
        super().__init__()
        self.narrower = narrower

    def row(self, x, *layers):
        """Adds one; its number of channels."""
        made = nn.Sequential()
        for out, *window in layers:
            made.append(ConvNormRelu(x, out // self.narrower, *window))
            x = out // self.narrower
        self.append(made)
        return x


HALVING = (3, 2, 0)


class Mixed(Rows):
    """A module of Inception: `branches` of layers; `pooled` channels of the averages, or 0 for maxima."""

    def __init__(self, narrower, x, branches, pooled, splits=()):
        super().__init__(narrower)
        self.out, self.plan, self.pooled = 0, [], pooled
        for branch in branches:
            number = len(self)
            last = self.row(x, *branch[0]) if branch in splits else self.row(x, *branch)
            if branch in splits:
                self.out += self.row(last, (branch[1], (1, 3))) + self.row(last, (branch[1], (3, 1)))
            else:
                self.out += last
            self.plan.append((number, branch in splits))
        self.out += self.row(x, (pooled, 1)) if pooled else x

    def forward(self, x):
        results = []
        for number, split in self.plan:
            y = self[number](x)
            results += [self[number + 1](y), self[number + 2](y)] if split else [y]
        results.append(self[len(self) - 1](averages(x)) if self.pooled else F.max_pool2d(x, 3, stride=2))
        return torch.cat(results, 1)


def mixed_a(narrower, x, pooled):
    return Mixed(narrower, x, [[(64, 1)], [(48, 1), (64, 5)], [(64, 1), (96, 3), (96, 3)]], pooled)


def mixed_b(narrower, x):
    return Mixed(narrower, x, [[(384, *HALVING)], [(64, 1), (96, 3), (96, *HALVING)]], 0)


def mixed_c(narrower, x, n):
    row, column = (1, 7), (7, 1)
    return Mixed(narrower, x, [[(192, 1)], [(n, 1), (n, row), (192, column)],
                               [(n, 1), (n, column), (n, row), (n, column), (192, row)]], 192)


def mixed_d(narrower, x):
    return Mixed(narrower, x, [[(192, 1), (320, *HALVING)],
                               [(192, 1), (192, (1, 7)), (192, (7, 1)), (192, *HALVING)]], 0)


def mixed_e(narrower, x):
    splits = [([(384, 1)], 384), ([(448, 1), (384, 3)], 384)]
    return Mixed(narrower, x, [[(320, 1)], *splits], 192, splits)


class InceptionV3(nn.Module):
    def __init__(self, size):
        super().__init__()
        narrower, some = size.narrower, lambda list_: list_[:size.repeats]
        self.stem1, self.stem2, self.mixed = Rows(narrower), Rows(narrower), nn.ModuleList()
        x = self.stem1.row(3, (32, *HALVING), (32, 3, 1, 0), (64, 3))
        x = self.stem2.row(x, (80, 1), (192, 3, 1, 0))

        def add(module):
            self.mixed.append(module)
            return module.out

        for pooled in some([32, 64, 64]):
            x = add(mixed_a(narrower, x, pooled))
        x = add(mixed_b(narrower, x))
        for n in some([128, 160, 160, 192]):
            x = add(mixed_c(narrower, x, n))
        x = add(mixed_d(narrower, x))
        for _ in some([1, 2]):
            x = add(mixed_e(narrower, x))
        self.fc = nn.Linear(x, CLASSES // narrower)

    def forward(self, x):
        x = F.max_pool2d(self.stem1[0](x), 3, stride=2)
        x = F.max_pool2d(self.stem2[0](x), 3, stride=2)
        for module in self.mixed:
            x = module(x)
        return self.fc(x.mean((2, 3)))


class Named(nn.Module):
    """Holds modules by names that keyword arguments can't have, as "self"."""

    def __init__(self, modules):
        super().__init__()
        for name, module in modules.items():
            self.add_module(name, module)


class BertLayer(nn.Module):
    EPSILON = 1e-12

    def __init__(self, features, hidden, heads):
        super().__init__()
        linear, norm = nn.Linear, lambda: nn.LayerNorm(features, eps=self.EPSILON)
        projections = Named({name: linear(features, features) for name in ("query", "key", "value")})
        out = Named({"dense": linear(features, features), "LayerNorm": norm()})
        self.heads, self.attention = heads, Named({"self": projections, "output": out})
        self.intermediate = Named({"dense": linear(features, hidden)})
        self.output = Named({"dense": linear(hidden, features), "LayerNorm": norm()})

    def forward(self, x):
        of = getattr(self.attention, "self")
        split = lambda y: y.unflatten(-1, (self.heads, -1)).transpose(0, 1)
        attended = F.scaled_dot_product_attention(split(of.query(x)), split(of.key(x)), split(of.value(x)))
        out = self.attention.output
        seen = out.LayerNorm(out.dense(attended.transpose(0, 1).flatten(1)) + x)
        return self.output.LayerNorm(self.output.dense(F.gelu(self.intermediate.dense(seen))) + seen)


class BertBase(nn.Module):
    def __init__(self, size):
        super().__init__()
        features = 768 // size.narrower
        table = lambda rows: nn.Embedding(rows, features)
        self.embeddings = Named({"word_embeddings": table(30522 // size.narrower), "token_type_embeddings": table(2),
                                 "position_embeddings": table(512),
                                 "LayerNorm": nn.LayerNorm(features, eps=BertLayer.EPSILON)})
        layer = lambda: BertLayer(features, 3072 // size.narrower, 12)
        self.encoder = Named({"layer": nn.ModuleList(layer() for _ in range(min(12, size.repeats)))})

    def forward(self, ids):
        of = self.embeddings
        x = of.word_embeddings(ids) + of.token_type_embeddings.weight[0] + of.position_embeddings.weight[:len(ids)]
        x = of.LayerNorm(x)
        for layer in self.encoder.layer:
            x = layer(x)
        return x


NETWORKS = {"bert-base": BertBase, "resnext-50": ResNeXt50, "nasnet-a": NasNetA, "nasrnn": NasRnn,
            "inception-v3": InceptionV3, "squeezenet": SqueezeNet, "vgg-19": Vgg19}
PIXELS = {"inception-v3": 299, "bert-base": 128}


def build(name, size):
    """The network with random weights, the same ones again at each call."""
    torch.manual_seed(1)
    model = NETWORKS[name](size).eval()
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.5, 1.0)
            nn.init.normal_(module.bias, std=0.1)
    if name == "nasrnn":
        nn.init.normal_(model.state)
        for step in model.steps:
            for linear in (*step.x, *step.state):
                nn.init.normal_(linear.weight, std=1 / math.sqrt(linear.in_features))
    return model


def example(name, size):
    generator = torch.Generator().manual_seed(2)
    pixels = size.pixels or PIXELS.get(name, 224)
    if name == "bert-base":
        return torch.randint(30522 // size.narrower, (pixels,), generator=generator, dtype=torch.int32)
    if name == "nasrnn":
        return torch.randn(min(NasRnn.STEPS, size.repeats), NasRnn.FEATURES // size.narrower, generator=generator)
    return torch.randn(1, 3, pixels, pixels, generator=generator)
