"""The messages that docs/troubleshooting.md quotes are in the sources: what stands between `…` in the first column."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def texts_of_sources():
    """The sources with string literals that follow one another joined, and what their quotes hide unescaped."""
    text = "\n".join(path.read_text() for folder in ("luminal", "apps", "cmake", "tests")
                     for suffix in ("cpp", "h", "cmake", "txt") for path in sorted((ROOT / folder).rglob(f"*.{suffix}")))
    return re.sub(r'"\s*\n\s*"', "", text).replace('\\"', '"').replace("{{", "{").replace("}}", "}")


def quoted_messages():
    for row in re.findall(r"^\| (.*?) \|", (ROOT / "docs/troubleshooting.md").read_text(), re.M):
        yield from (message for message in re.findall(r"`([^`]+)`", row) if " " in message)


class Troubleshooting(unittest.TestCase):
    def test_every_message_is_in_the_sources(self):
        texts = texts_of_sources()
        messages = list(quoted_messages())
        self.assertGreater(len(messages), 40)
        for message in messages:
            for piece in message.replace("{{", "{").replace("}}", "}").split("…"):
                self.assertTrue(piece.strip(" '\"") in texts, f"no source has '{piece}' of '{message}'")


if __name__ == "__main__":
    unittest.main()
