"""What `luminal` says of itself: help, usage errors, man pages, completion. Usage: help_test.py PROGRAM"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], input="", capture_output=True, text=True)


def commands():
    listed = re.search(r"^Commands:\n((?:  .*\n)+)", run("--help").stdout, re.M).group(1)
    return re.findall(r"^  (\S+)", listed, re.M)


class Help(unittest.TestCase):
    def test_every_command_has_examples_and_lines_that_fit(self):
        for command in commands():
            with self.subTest(command):
                text = run(command, "--help").stdout
                self.assertRegex(text, rf"(?m)^Examples:\n(?:  .*\n)*?  .*luminal {command}")
                options = text.split("Examples:")[0]
                self.assertLessEqual(max(map(len, options.splitlines())), 80)

    def test_options_for_models_come_first_and_rare_ones_on_request(self):
        for command in ("run", "chat"):
            text, whole = run(command, "--help").stdout, run(command, "--help-all").stdout
            self.assertLess(text.index("Language models:"), text.index("Options:"))
            self.assertNotIn("--finalists", text)
            self.assertRegex(text, r"--help-all shows \d+ more options: .*Search")
            self.assertIn("--finalists", whole)

    def test_what_was_meant_is_guessed_and_the_right_help_is_named(self):
        for arguments, message, command in (
                (("rnu",), "there is no command 'rnu': did you mean 'run'?", "luminal"),
                (("run", "--promt", "x"), "there is no option '--promt' of `luminal run`: did you mean '--prompt'?",
                 "luminal run"),
                (("cache", "sats"), "there is no command 'sats': did you mean 'stats'?", "luminal cache"),
                (("run", "x", "y"), "`luminal run` doesn't expect 'y'", "luminal run"),
                (("graph",), "`luminal graph` needs a command", "luminal graph"),
                (("chat",), "model is required", "luminal chat")):
            with self.subTest(arguments):
                result = run(*arguments)
                self.assertEqual(result.returncode, 2)
                self.assertIn(message, result.stderr)
                self.assertIn(f"\n{command} --help lists what there is\n", result.stderr)


class Completion(unittest.TestCase):
    def completed(self, *words):
        script = """source <("$1" completion bash); shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
                    registered=$(complete -p luminal); registered=${registered#*-F }; "${registered% luminal}"
                    printf '%s\\n' "${COMPREPLY[@]}" """
        result = subprocess.run(["bash", "-c", script, "bash", PROGRAM, "luminal", *words], capture_output=True, text=True)
        self.assertEqual(result.stderr, "")
        return result.stdout.split()

    def test_bash_completes_commands_options_values_and_files(self):
        self.assertEqual(self.completed("ch"), ["chat"])
        self.assertEqual(self.completed("cache", ""), ["stats", "clear"])
        self.assertEqual(self.completed("run", "--max"), ["--max-tokens"])
        self.assertEqual(self.completed("run", "x", "--dtype", "b"), ["bf16"])
        self.assertEqual(self.completed("completion", "z"), ["zsh"])
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "model.gguf").touch()
            self.assertEqual(self.completed("run", folder + "/mo"), [folder + "/model.gguf"])

    def test_each_shell_can_read_its_script(self):
        for shell, check in (("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")):
            script = run("completion", shell)
            self.assertEqual(script.returncode, 0)
            for command in commands():
                self.assertIn(command, script.stdout)
            if shutil.which(shell):
                with tempfile.NamedTemporaryFile("w") as file:
                    file.write(script.stdout)
                    file.flush()
                    result = subprocess.run([shell, check, file.name], capture_output=True, text=True)
                    self.assertEqual((result.returncode, result.stderr), (0, ""), shell)


class Manual(unittest.TestCase):
    def test_every_command_has_a_page_that_renders_without_a_warning(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run("man", "--folder", folder).returncode, 0)
            pages = sorted(path.name for path in pathlib.Path(folder).iterdir())
            self.assertEqual(pages, sorted(["luminal.1", *(f"luminal-{command}.1" for command in commands())]))
            self.assertEqual((pathlib.Path(folder) / "luminal-run.1").read_text(), run("man", "run").stdout)
            if not shutil.which("groff"):
                self.skipTest("groff is not installed")
            for page in pages:
                result = subprocess.run(["groff", "-ww", "-man", "-Tutf8", "-P-c", f"{folder}/{page}"], capture_output=True,
                                        text=True)
                self.assertEqual((result.returncode, result.stderr), (0, ""), page)
                shown = re.sub(".\x08", "", result.stdout)
                for part in ("NAME", "SYNOPSIS", "EXAMPLES"):
                    self.assertIn(part, shown, page)

    def test_a_page_has_every_option_of_the_help(self):
        page = run("man", "run").stdout.replace("\\-", "-")
        for option in re.findall(r"^  .*?(--[\w-]+)", run("run", "--help-all").stdout.split("Examples:")[0], re.M):
            self.assertIn(option, page)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
