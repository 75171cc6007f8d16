"""`luminal chat` as someone at a terminal uses it. Usage: chat_terminal_test.py PROGRAM MODELS"""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

PROGRAM, MODELS = sys.argv[1], pathlib.Path(os.environ.get("LUMINAL_TEST_MODELS", sys.argv[2]))
STORIES = MODELS / "stories260k"
COLUMNS = 60
PATIENCE = 60  # seconds until something that is waited for counts as missing
CACHE = tempfile.TemporaryDirectory()  # of compiled kernels, for all tests
UP, LEFT, CTRL_A, CTRL_C, CTRL_D = "\x1b[A", "\x1b[D", "\x01", "\x03", "\x04"


def chat_model(folder):
    """The stories model with a chat template: a conversation for it is a text that goes on."""
    model = pathlib.Path(folder) / "model"
    model.mkdir()
    for file in STORIES.iterdir():
        (model / file.name).symlink_to(file.resolve())
    (model / "chat_template.jinja").write_text("{% for m in messages %}{{ m['content'] }}\n{% endfor %}")
    return str(model)


class Terminal:
    """A pseudo-terminal with the program in it."""

    def __init__(self, *arguments, home, no_color=False):
        environment = {**os.environ, "HOME": home, "TERM": "xterm", "XDG_CACHE_HOME": CACHE.name}
        environment.pop("XDG_STATE_HOME", None)
        environment.pop("NO_COLOR", None)
        if no_color:
            environment["NO_COLOR"] = "1"
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.execve(PROGRAM, [PROGRAM, *arguments], environment)
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        self.output = ""
        self.seen = 0  # how much of it was waited for

    def read(self, seconds):
        if not select.select([self.file], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.file, 65536)
        except OSError:
            return False
        self.output += data.decode(errors="replace")
        return bool(data)

    def wait_for(self, pattern):
        """Until what is new matches; returns what came up to there."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            match = re.search(pattern, self.output[self.seen:], re.S)
            if match:
                text = self.output[self.seen:self.seen + match.end()]
                self.seen += match.end()
                return text
            self.read(0.2)
        raise AssertionError(f"no {pattern!r} in {self.output[self.seen:]!r}")

    def wait_for_prompt(self):
        """Also until keys go to the program one by one: before, a Ctrl-D would be the terminal's."""
        text = self.wait_for(r"\x1b\[\?2004h.*?> ?(?:\x1b\[0m)? ?")
        end = time.monotonic() + PATIENCE
        while termios.tcgetattr(self.file)[3] & termios.ICANON and time.monotonic() < end:
            time.sleep(0.01)
        return text

    def type(self, text):
        os.write(self.file, text.encode())

    def say(self, text):
        """A line, and what came until the next prompt."""
        self.type(text + "\r")
        return self.wait_for_prompt()

    def status(self):
        """Of the program, which has to end by itself."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.read(0.1)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.file)
                self.pid = None
                return os.waitstatus_to_exitcode(status)
        raise AssertionError("it doesn't end")

    def end(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self.file)


class Chat(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = folder.name
        self.model = chat_model(folder.name)

    def start(self, *arguments, command="chat", **options):
        terminal = Terminal(command, self.model, "--greedy", "-t", "1", *arguments, home=self.home, **options)
        self.addCleanup(terminal.end)
        terminal.wait_for_prompt()
        return terminal

    def saved(self, terminal, role="user"):
        """The messages so far, from what /save writes."""
        file = pathlib.Path(self.home) / "saved.json"
        file.unlink(missing_ok=True)
        terminal.say(f"/save {file}")
        return [message["content"] for message in json.loads(file.read_text())["messages"] if message["role"] == role]

    def test_a_line_is_typed_edited_recalled_and_answered(self):
        chat = self.start("-n", "8")
        chat.say("Once upn a time" + LEFT * 8 + "o")
        chat.say(UP + CTRL_A + "Lily. ")
        self.assertEqual(self.saved(chat), ["Once upon a time", "Lily. Once upon a time"])
        self.assertEqual(len(self.saved(chat, "assistant")), 2)
        chat.type(CTRL_D)
        self.assertEqual(chat.status(), 0)

    def test_pasted_lines_are_one_message(self):
        chat = self.start("-n", "4")
        chat.type("\x1b[200~one\rtwo\rthree\r\x1b[201~")
        chat.say(" and more")
        self.assertEqual(self.saved(chat), ["one\ntwo\nthree and more"])
        chat.type('"""four\r')
        chat.wait_for("… ")
        chat.say('five"""')
        self.assertEqual(self.saved(chat)[1:], ["four\nfive"])

    def test_an_answer_is_stopped_and_the_conversation_goes_on(self):
        chat = self.start("-c", "500")
        chat.type("Once upon a time\r")
        chat.wait_for(r"\r\n\w+ \w+ \w+")
        chat.type(CTRL_C)
        chat.wait_for("stopped")
        chat.wait_for_prompt()
        begun = self.saved(chat, "assistant")
        self.assertEqual(len(begun), 1)
        self.assertGreater(len(begun[0]), 0)
        chat.type("dropped" + CTRL_C)
        chat.wait_for_prompt()
        chat.say("/set max-tokens 4")
        chat.say("Then")
        self.assertEqual(self.saved(chat), ["Once upon a time", "Then"])
        self.assertEqual(self.saved(chat, "assistant")[0], begun[0])

    def test_messages_are_remembered_by_the_next_session(self):
        chat = self.start("-n", "4")
        chat.type("\x1b[200~kept\rover\x1b[201~")
        chat.say("")
        chat.type(CTRL_D)
        self.assertEqual(chat.status(), 0)
        history = pathlib.Path(self.home) / ".local/state/luminal/chat-history"
        self.assertEqual(stat.S_IMODE(history.stat().st_mode), 0o600)
        chat = self.start("-n", "4")
        chat.say(UP)
        self.assertEqual(self.saved(chat), ["kept\nover"])

    def test_answers_break_between_words(self):
        chat = self.start("-n", "120")
        shown = chat.say("Once upon a time")
        answer = self.saved(chat, "assistant")[0]
        lines = shown.split("\x1b[?2004l", 1)[1].split("\x1b[?2004h", 1)[0].strip().split("\r\n")
        self.assertGreater(len(lines), 2)
        self.assertLessEqual(max(map(len, lines)), COLUMNS)
        self.assertEqual(" ".join(lines).split(), answer.split())

    def test_a_long_conversation_goes_on_without_its_oldest_messages(self):
        chat = self.start("-c", "64", "-n", "16", "--system", "Lily")
        shown = "".join(chat.say(f"Once upon a time there was {i}") for i in range(6))
        self.assertEqual(shown.count("doesn't see the oldest messages"), 1)
        self.assertEqual(len(self.saved(chat)), 6)
        self.assertEqual(len([text for text in self.saved(chat, "assistant") if text]), 6)
        self.assertEqual(self.saved(chat, "system"), ["Lily"])
        self.assertIn("shorten it", chat.say("word " * 80))
        self.assertEqual(len(self.saved(chat)), 6)

    def test_commands(self):
        chat = self.start("-n", "4")
        self.assertIn("there is no answer yet", chat.say("/regenerate"))
        chat.say("Once upon a time")
        first = self.saved(chat, "assistant")
        chat.say("/regenerate")
        self.assertEqual(self.saved(chat, "assistant"), first)
        self.assertIn("/regenerate", chat.say("/help"))
        self.assertRegex(chat.say("/set top-k 40"), r"top-k +40")
        self.assertIn("top-p is 2", chat.say("/set top-p 2"))
        self.assertRegex(chat.say("/stats"), r"prompt +\d+ tokens")
        file = pathlib.Path(self.home) / "kept.json"
        chat.say(f"/save {file}")
        chat.say("/system Tom")
        chat.say("/reset")
        self.assertEqual((self.saved(chat), self.saved(chat, "system")), ([], ["Tom"]))
        self.assertIn("2 messages read", chat.say(f"/load {file}"))
        self.assertEqual(self.saved(chat, "assistant"), first)
        self.assertIn("did you mean '/quit'", chat.say("/qiut"))
        chat.type("/quit\r")
        self.assertEqual(chat.status(), 0)

    def test_run_without_a_prompt_is_a_chat_and_has_no_colours_if_unwanted(self):
        chat = self.start("-n", "4", command="run", no_color=True)
        chat.say("Once upon a time")
        self.assertEqual(self.saved(chat), ["Once upon a time"])
        self.assertNotRegex(chat.output, r"\x1b\[\d*m")

    def test_run_with_a_prompt_ends_in_its_speed(self):
        terminal = Terminal("run", self.model, "-p", "Once upon a time", "-n", "8", "--greedy", "-t", "1", home=self.home)
        self.addCleanup(terminal.end)
        terminal.wait_for(r"8 tokens, [\d.]+ tokens/s, TTFT [\d.]+ s")
        self.assertEqual(terminal.status(), 0)


if __name__ == "__main__":
    if not STORIES.exists():
        print(f"SKIPPED: there is no {STORIES}; set LUMINAL_TEST_MODELS")
        sys.exit(77)
    found = json.loads(subprocess.run([PROGRAM, "doctor", "--json", "--no-measure"], capture_output=True).stdout)
    if not found["libraries"]["libedit"]:
        print("SKIPPED: there is no libedit, or the program was built without its header; install libedit-dev")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
