"""Sentencepiece models for tests: trained on a text, or put together from the vocabulary of a GGUF file."""
import io
import struct

import sentencepiece


def varint(number):
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def field(number, data):
    """A field of bytes, or of a whole number."""
    if isinstance(data, int):
        return varint(number << 3) + varint(data)
    return varint(number << 3 | 2) + varint(len(data)) + data


def piece(text, score, kind):
    return field(1, field(1, text) + varint(2 << 3 | 5) + struct.pack("<f", score) + field(3, kind))


def model_of_gguf(metadata):
    """A ModelProto of the kind "llama": BPE by scores, a dummy prefix, no other normalisation."""
    def of(key):
        return metadata["tokenizer.ggml." + key]

    unknown = of("unknown_token_id")
    model = b""
    for i, (text, score, kind) in enumerate(zip(of("tokens"), of("scores"), of("token_type"))):
        # GGUF marks the unknown token as control, and padding as unknown.
        kind = 2 if i == unknown else 3 if kind == 2 else kind
        model += piece(text, score, kind)
    trainer = field(3, 2) + field(35, 1) + field(40, unknown) + field(41, of("bos_token_id")) + \
        field(42, of("eos_token_id"))
    normalizer = field(1, b"identity") + field(3, 1) + field(4, 0) + field(5, 1)
    return model + field(2, trainer) + field(3, normalizer)


def train(corpus, **options):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(input=str(corpus), model_writer=out, minloglevel=2, num_threads=1,
                                             hard_vocab_limit=False, **options)
    return out.getvalue()
