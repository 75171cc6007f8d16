"""A small PyTorch model, what it computes, and its weights as files: usage FOLDER. 10_port_pytorch.cpp is its port."""
import pathlib
import sys

import numpy
import torch
from safetensors.torch import save_file
from torch import nn


class Tagger(nn.Module):
    """A score for each of 5 labels, for every token of a text."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 16)
        self.attend = nn.MultiheadAttention(16, 2, batch_first=True)
        self.norm = nn.LayerNorm(16)
        self.head = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 5))

    def forward(self, ids):
        x = self.embed(ids)
        self.normed = self.norm(x + self.attend(x, x, x, need_weights=False)[0])
        return self.head(self.normed)


folder = pathlib.Path(sys.argv[1])
torch.manual_seed(1)
model = Tagger().eval()
ids = torch.randint(100, (2, 7))
with torch.no_grad():
    scores = model(ids)
save_file(model.state_dict(), folder / "model.safetensors")
save_file({"ids": ids}, folder / "input.safetensors")
numpy.save(folder / "normed.npy", model.normed.numpy())
numpy.save(folder / "scores.npy", scores.numpy())
