"""What the generated pages read of the project: its public headers, its examples, its program."""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def public_headers():
    """The installed headers by module, as paths from the root, in the order of luminal/LAYERS."""
    headers = {}
    for line in (ROOT / "luminal/LAYERS").read_text().splitlines():
        module = line.split("#")[0].partition(":")[0].strip()
        cmake = ROOT / "luminal" / module / "CMakeLists.txt"
        if not module or not cmake.is_file():
            continue
        call = re.search(r"luminal_module\s*\(([^)]*)\)", re.sub(r"#[^\n]*", "", cmake.read_text()))
        found = re.search(r"\bPUBLIC\s+(.*?)(?:\b(?:SOURCES|DEPS|LINKS)\b|$)", call.group(1), re.DOTALL) if call else None
        names = [name for name in (found.group(1).split() if found else []) if name.endswith(".h")]
        if names:
            headers[module] = [f"luminal/{module}/{name}" for name in names]
    return headers


def examples():
    return sorted((ROOT / "examples").glob("[0-9][0-9]_*.cpp"))


def newest_program():
    """The program `luminal` that was built last, in whichever preset's folder; none where nothing is built."""
    built = [path for path in ROOT.glob("build/*/apps/cli/luminal") if path.is_file()]
    return max(built, key=lambda path: path.stat().st_mtime, default=None)


def output_of(*command):
    return subprocess.run([str(part) for part in command], cwd=ROOT, text=True, capture_output=True, check=True).stdout
