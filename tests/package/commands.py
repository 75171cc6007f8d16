"""Running other programs, for the tests of packages."""
import subprocess


def run(*command, **options):
    """Runs a command and returns what it printed; what went wrong is an AssertionError with the end of its output."""
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if result.returncode != 0:
        raise AssertionError(f"{command}: exit code {result.returncode}\n{result.stdout[-4000:]}\n{result.stderr[-4000:]}")
    return result.stdout
