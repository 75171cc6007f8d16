"""A subprocess that answers each command with one line."""
import subprocess


class Asked:
    def __init__(self, program):
        self.name = program.name
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def line_for(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def ask(self, command):
        answer = self.line_for(command)
        if not answer:
            self.ended_at(command)
        return answer.split()

    def ended_at(self, command):
        """Called if the program gives no answer."""
        raise RuntimeError(f"{self.name} ended with code {self.process.wait()} at: {command}")

    def end(self):
        self.process.stdin.close()
        self.process.wait()
