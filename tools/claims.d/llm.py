"""Language models: their files, tokenizers, chat templates and generation."""
import json
import re

from claims import Claim, Short
from claims_support import ctest, last_line

NEEDED = {"smollm2", "qwen3", "gpt2", "phi3", "bert", "stories260k-json", "stories260k-model"}


def tokenizers(context):
    python = context.root / ".venv/bin/python"
    if not python.exists():
        raise Short("there is no .venv: run tools/install-deps.sh")
    program = context.program("tests/text/luminal_tokenizer_cases")
    result = context.run([python, "-B", context.root / "tests/text/tokenizer_oracle.py", program, "--models",
                          context.root / "../shared/models", "--count", "100000"])
    if result.returncode == 77:
        raise Short(last_line(result))
    print(result.stdout, end="")
    rows = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    slowest = max((row["shakespeare_seconds"] or 0 for row in rows if row["name"] in NEEDED), default=0)
    faster = [row["oracle_seconds"] / row["shakespeare_seconds"] for row in rows if row["name"] in NEEDED]
    measured = (f"{last_line(result)}; tinyshakespeare in at most {slowest:.2f} s, "
                f"{min(faster):.1f} to {max(faster):.1f} times as fast as the oracle")
    complete = NEEDED <= {row["name"] for row in rows}
    return measured, result.returncode == 0 and complete and slowest < 1


def templates(context):
    measured, holds = ctest("-R", "^(chat_templates_test|unicode_test)$")(context)
    return re.sub(r"\s+", " ", measured), holds


CLAIMS = [
    Claim(name="tokenizers", target="equal to tokenizers and sentencepiece on tinyshakespeare, names, every .inp case and "
          "100,000 random strings each", minutes=20, measure=tokenizers),
    Claim(name="chat-templates", target="equal to Jinja, and Unicode tables equal to the tokenizers wheel's", minutes=0.5,
          measure=templates, quick=True),
    Claim(name="hostile-text", target="hostile tokenizer files and templates are refused with a reason", minutes=0.1,
          measure=ctest("-R", "^(text_hostile_test|tokenizer_test)$"), quick=True),
]
