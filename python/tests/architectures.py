"""37 architectures of transformers in tiny random configurations, with inputs of any size."""
import copy
import dataclasses
import typing

import torch
import transformers
from torch import nn

TEXT = {"vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 128, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
ENCODER = {key: TEXT[key] for key in TEXT if key != "num_key_value_heads"}
VISION = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 32,
          "patch_size": 8, "num_channels": 3}
STAGES = {"depths": [1, 1, 1, 1], "hidden_sizes": [8, 16, 24, 32]}


@dataclasses.dataclass
class Architecture:
    """`inputs(batch, length)` gives keyword arguments; `dynamic` the axes of each that may have any size."""

    kind: str  # of a class of transformers
    config: typing.Callable
    inputs: typing.Callable
    dynamic: dict
    output: str = "logits"
    sizes: tuple = ((2, 7), (3, 12), (4, 19))  # batch and length
    is_marked: bool = False  # compiled with dynamic=True: it branches on sizes, and each branch is a graph


def tokens(batch, length):
    return torch.randint(3, 64, (batch, length))


def mask(batch, length):
    """The last row has padding on its right."""
    ones = torch.ones(batch, length, dtype=torch.int64)
    ones[-1, length // 2 + 1:] = 0
    return ones


def text(batch, length):
    return {"input_ids": tokens(batch, length), "attention_mask": mask(batch, length)}


def pair(batch, length):
    return {"input_ids": tokens(batch, length), "decoder_input_ids": tokens(batch, length + 3)}


def pixels(size):
    return lambda batch, length: {"pixel_values": torch.randn(batch, 3, size, size)}


def any_pixels(batch, length):
    return {"pixel_values": torch.randn(batch, 3, 32 * (length % 3 + 2), 32 * (length % 2 + 2))}


def written(batch, length):
    """Text and images."""
    return {"input_ids": tokens(batch, 8), "pixel_values": torch.randn(batch + 1, 3, 32, 32)}


BOTH = {0: "batch", 1: "length"}
IDS = {"input_ids": BOTH, "attention_mask": BOTH}
PIXELS = {"pixel_values": {0: "batch"}}
ANY_PIXELS = {"pixel_values": {0: "batch", 2: "height", 3: "width"}}
IMAGES = ((2, 7), (3, 12), (5, 19))


def decoder(name, **more):
    return Architecture("AutoModelForCausalLM", lambda: transformers.AutoConfig.for_model(name, **{**TEXT, **more}), text, IDS)


def encoder(kind, name, output="last_hidden_state", **more):
    return Architecture(kind, lambda: transformers.AutoConfig.for_model(name, **{**ENCODER, **more}), text, IDS, output)


def vision(kind, name, output, dynamic=None, inputs=None, **more):
    if output == "logits":
        more = {"num_labels": 32, **more}  # errors of a few numbers are chance
    return Architecture(kind, lambda: transformers.AutoConfig.for_model(name, **more), inputs or pixels(32), dynamic or PIXELS,
                        output, IMAGES)


def contrast(kind, name):
    return Architecture(
        kind, lambda: transformers.AutoConfig.for_model(
            name, text_config={**ENCODER, "max_position_embeddings": 16}, vision_config=VISION, projection_dim=24), written,
        {"input_ids": {0: "batch"}, "pixel_values": {0: "images"}}, "logits_per_image", IMAGES)


ARCHITECTURES = {
    "llama": decoder("llama"),
    "qwen2": decoder("qwen2"),
    "qwen3": decoder("qwen3", head_dim=8),
    "qwen3_moe": decoder("qwen3_moe", head_dim=8, **EXPERTS),
    "qwen3_next": decoder("qwen3_next", head_dim=8, linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8,
                          linear_value_head_dim=8, shared_expert_intermediate_size=16,
                          layer_types=["linear_attention", "full_attention"], **EXPERTS),
    "gemma2": decoder("gemma2", head_dim=8, sliding_window=8, query_pre_attn_scalar=8),
    "gemma3": decoder("gemma3_text", head_dim=8, sliding_window=8, query_pre_attn_scalar=8,
                      layer_types=["sliding_attention", "full_attention"]),
    "gpt2": decoder("gpt2", n_embd=32, n_layer=2, n_head=4, n_positions=128),
    "gpt_neox": decoder("gpt_neox"),
    "gpt_oss": decoder("gpt_oss", head_dim=8, sliding_window=8, num_local_experts=4, num_experts_per_tok=2),
    "phi3": decoder("phi3"),
    "mistral": decoder("mistral", sliding_window=8, head_dim=8),
    "mixtral": decoder("mixtral", num_local_experts=4, num_experts_per_tok=2, head_dim=8),
    "olmo2": decoder("olmo2"),
    "smollm3": decoder("smollm3"),
    "deepseek_v3": decoder("deepseek_v3", num_key_value_heads=4, q_lora_rank=16, kv_lora_rank=16, qk_rope_head_dim=8,
                           qk_nope_head_dim=8, v_head_dim=8, n_routed_experts=4, num_experts_per_tok=2,
                           moe_intermediate_size=16, n_group=2, topk_group=1, first_k_dense_replace=1, n_shared_experts=1),
    "mamba2": dataclasses.replace(
        decoder("mamba2", num_heads=8, head_dim=8, state_size=8, n_groups=2, chunk_size=4, expand=2), is_marked=True),
    "bert": encoder("BertModel", "bert"),
    "roberta": encoder("RobertaModel", "roberta"),
    "modernbert": encoder("ModernBertModel", "modernbert", local_attention=8, global_attn_every_n_layers=2),
    "distilbert": encoder("DistilBertModel", "distilbert", dim=32, hidden_dim=48, n_layers=2, n_heads=4),
    "deberta_v2": encoder("DebertaV2Model", "deberta-v2", relative_attention=True, pos_att_type=["c2p", "p2c"],
                          position_buckets=8, max_relative_positions=32),
    "t5": Architecture(
        "T5ForConditionalGeneration", lambda: transformers.T5Config(
            vocab_size=64, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, decoder_start_token_id=0), pair,
        {"input_ids": BOTH, "decoder_input_ids": {0: "batch", 1: "written"}}),
    "bart": Architecture(
        "BartForConditionalGeneration", lambda: transformers.BartConfig(
            vocab_size=64, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
            encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=128), pair,
        {"input_ids": BOTH, "decoder_input_ids": {0: "batch", 1: "written"}}),
    "whisper": Architecture(
        "WhisperForConditionalGeneration", lambda: transformers.WhisperConfig(
            vocab_size=64, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
            encoder_ffn_dim=48, decoder_ffn_dim=48, num_mel_bins=16, max_source_positions=16, max_target_positions=64,
            pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1, suppress_tokens=[], begin_suppress_tokens=[]),
        lambda batch, length: {"input_features": torch.randn(batch, 16, 32), "decoder_input_ids": tokens(batch, length)},
        {"input_features": {0: "batch"}, "decoder_input_ids": BOTH}),
    "wav2vec2": Architecture(
        "Wav2Vec2ForCTC", lambda: transformers.Wav2Vec2Config(
            vocab_size=32, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, conv_dim=(16, 16),
            conv_stride=(5, 2), conv_kernel=(10, 3), num_feat_extract_layers=2, num_conv_pos_embeddings=8,
            num_conv_pos_embedding_groups=2), lambda batch, length: {"input_values": torch.randn(batch, 40 * length)},
        {"input_values": BOTH}),
    "vit": vision("ViTForImageClassification", "vit", "logits", **VISION),
    "dinov2": vision("Dinov2Model", "dinov2", "last_hidden_state", **VISION),
    "swin": vision("SwinForImageClassification", "swin", "logits", image_size=32, patch_size=4, embed_dim=16, depths=[2, 2],
                   num_heads=[2, 4], window_size=4),
    "clip": contrast("CLIPModel", "clip"),
    "siglip": contrast("SiglipModel", "siglip"),
    "convnext": vision("ConvNextForImageClassification", "convnext", "logits", ANY_PIXELS, any_pixels, **STAGES),
    "resnet": vision("ResNetForImageClassification", "resnet", "logits", ANY_PIXELS, any_pixels, embedding_size=8,
                     layer_type="basic", **STAGES),
    "mobilenet_v2": vision("MobileNetV2ForImageClassification", "mobilenet_v2", "logits", image_size=32, depth_multiplier=0.25),
    "segformer": vision("SegformerForSemanticSegmentation", "segformer", "logits", depths=[1, 1, 1, 1],
                        hidden_sizes=[8, 16, 24, 32], num_attention_heads=[1, 2, 2, 4], decoder_hidden_size=16,
                        inputs=pixels(64)),
    "detr": Architecture(
        "DetrForObjectDetection", lambda: transformers.DetrConfig(
            backbone=None, use_timm_backbone=False, use_pretrained_backbone=False,
            backbone_config=transformers.ResNetConfig(embedding_size=8, layer_type="basic", out_features=["stage4"], **STAGES),
            d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
            encoder_ffn_dim=48, decoder_ffn_dim=48, num_queries=5), pixels(64), PIXELS, "logits", IMAGES),
    "sam": Architecture(
        "SamModel", lambda: transformers.SamConfig(
            vision_config={"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 64, "patch_size": 8,
                           "output_channels": 16, "mlp_dim": 48, "window_size": 4, "global_attn_indexes": [1], "num_pos_feats": 8},
            prompt_encoder_config={"hidden_size": 16, "image_size": 64, "patch_size": 8, "image_embedding_size": 8,
                                   "mask_input_channels": 4},
            mask_decoder_config={"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "mlp_dim": 32,
                                 "iou_head_hidden_dim": 16}),
        lambda batch, length: {"pixel_values": torch.randn(batch, 3, 64, 64), "input_points": 64 * torch.rand(batch, 1, 1, 2)},
        {"pixel_values": {0: "batch"}, "input_points": {0: "batch"}}, "pred_masks", IMAGES),
}


class Named(nn.Module):
    """A model that takes tensors by position and gives one tensor."""

    def __init__(self, model, names, output):
        super().__init__()
        self.model, self.names, self.output = model, names, output
        self.more = {"use_cache": False} if hasattr(model.config, "use_cache") else {}

    def forward(self, *tensors):
        return self.model(**dict(zip(self.names, tensors)), **self.more)[self.output]


def made(name):
    """The model with weights that make each element of its output matter, from a fixed seed."""
    architecture = ARCHITECTURES[name]
    torch.manual_seed(7)
    kind, config = getattr(transformers, architecture.kind), architecture.config()
    model = (kind.from_config(config) if kind.__name__.startswith("Auto") else kind(config)).eval()
    with torch.no_grad():
        for path, each in [*model.named_parameters(), *model.named_buffers()]:
            if path.endswith("running_var"):
                each.copy_(0.5 + torch.rand_like(each))
            elif path.endswith("running_mean") or (isinstance(each, nn.Parameter) and each.dim() < 2):
                each.add_(0.1 * torch.randn_like(each))
            elif isinstance(each, nn.Parameter) and each.dim() >= 2:
                each.normal_(0, (each.shape[0] / each.numel()) ** 0.5)
    return Named(model, list(architecture.inputs(2, 7)), architecture.output).eval()


def widened(model):
    """A copy in f64, which PyTorch's grouped products don't take: experts are multiplied one by one."""
    wide = copy.deepcopy(model).double()
    if wide.model._can_set_experts_implementation():
        wide.model.set_experts_implementation("eager")
    return wide


def inputs(name, batch, length, dtype=torch.float32):
    """Positional arguments; those of floats in `dtype`."""
    torch.manual_seed(1000 * batch + length)
    tensors = ARCHITECTURES[name].inputs(batch, length).values()
    return tuple(each.to(dtype) if each.is_floating_point() else each for each in tensors)
