"""The metadata of a GGUF file, and its vocabulary in the form that tests/text/vocabulary_file.h reads."""
import struct

FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


def read_metadata(path):
    with open(path, "rb") as file:
        def number(form):
            return struct.unpack("<" + form, file.read(struct.calcsize(form)))[0]

        def text():
            return file.read(number("Q"))

        def value(kind):
            if kind in FORMATS:
                return number(FORMATS[kind])
            if kind == 8:
                return text()
            item, count = number("I"), number("Q")
            return [value(item) for _ in range(count)]

        if file.read(4) != b"GGUF":
            raise ValueError(f"{path} isn't a GGUF file")
        number("I")
        number("Q")
        return {text().decode(): value(number("I")) for _ in range(number("Q"))}


def packed_text(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<I", len(data)) + data


def packed_numbers(numbers, form="i"):
    return struct.pack(f"<I{len(numbers)}{form}", len(numbers), *numbers)


def write_vocabulary(metadata, path):
    def of(key, otherwise):
        return metadata.get("tokenizer.ggml." + key, otherwise)

    def texts(key):
        items = of(key, [])
        return struct.pack("<I", len(items)) + b"".join(map(packed_text, items))

    data = packed_text(of("model", b"")) + packed_text(of("pre", b""))
    data += texts("tokens") + packed_numbers(of("scores", []), "f") + packed_numbers(of("token_type", []))
    data += texts("merges")
    for key in ("bos", "eos", "unknown", "seperator", "padding", "cls"):
        data += struct.pack("<i", of(key + "_token_id", -1))
    for key in ("add_bos_token", "add_eos_token", "add_space_prefix"):
        data += struct.pack("<i", int(of(key, -1)))
    data += packed_text(metadata.get("tokenizer.chat_template", b""))
    with open(path, "wb") as file:
        file.write(data)
