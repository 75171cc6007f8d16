#!/usr/bin/env python3
"""Keeps the architecture: fails, with file:line, on what the LAYERS files and the style don't allow.

  - an include against the order of luminal/LAYERS, or of a module the CMake file doesn't name in DEPS
  - a module folder that LAYERS doesn't list, or the other way round; the same for the folders of a module
  - two folders of luminal/ or apps/ that include each other
  - a folder of more than 30 source files
  - a PUBLIC header that includes a header which isn't PUBLIC, or a third-party one
  - an operating-system header or call outside luminal/base/os/*.cpp
  - a read of the environment outside luminal/base/os/paths.cpp
  - an example of more than 60 lines, or one that includes what isn't PUBLIC; the same for tests/extend, which
    adds to the library from outside
  - a file of more than 600 lines
"""
import argparse
import pathlib
import re
import sys

from rooms import Rooms, read_layers

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
MAX_EXAMPLE_LINES = 60
MAX_LINES = 600
CPP = {".h", ".cpp", ".def", ".hpp", ".cc", ".inc"}

STANDARD = set("""
algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes
climits clocale cmath compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef
cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem format
forward_list fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator latch
limits list locale map memory memory_resource mutex new numbers numeric optional ostream queue random ranges
ratio regex scoped_allocator semaphore set shared_mutex source_location span sstream stack stdexcept stop_token
streambuf string string_view strstream syncstream system_error thread tuple type_traits typeindex typeinfo
unordered_map unordered_set utility valarray variant vector version
""".split())

OS_HEADERS = set("""
unistd.h pthread.h sched.h fcntl.h dlfcn.h spawn.h signal.h poll.h dirent.h pwd.h grp.h termios.h semaphore.h
ucontext.h execinfo.h link.h syslog.h netdb.h aio.h ftw.h glob.h cpuid.h windows.h numa.h
""".split())
OS_HEADER_FOLDERS = ("sys/", "linux/", "asm/", "netinet/", "arpa/", "net/", "mach/")
OS_CALL = re.compile(
    r"(?<![\w.>])(?:mmap|munmap|madvise|mprotect|mlock|sysconf|sched_\w+|pthread_\w+|dlopen|dlsym|dlclose|"
    r"fork|execl|execv|execvp|execve|popen|pclose|posix_\w+|waitpid|fcntl|ioctl|getpid|isatty|usleep|nanosleep|"
    r"sigaction|setrlimit|getrlimit|getrusage|syscall|arch_prctl|prctl|gettimeofday|clock_gettime)\s*\("
    r"|(?<![\w>:])::(?:open|close|read|write|stat|fstat|lstat|access|unlink|rename|kill|pipe|dup2|signal)\s*\("
    r"|\bstd::system\s*\("
)
ENVIRONMENT = re.compile(r"\b(?:secure_getenv|getenv|setenv|unsetenv|putenv)\s*\(")


def code_lines(text):
    """The lines of a C++ text with comments and literals blanked, so that words in them don't count."""
    pattern = re.compile(
        r'R"(\w*)\((?:.|\n)*?\)\1"|//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'')

    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))

    return pattern.sub(blank, text).splitlines()


class Module:
    def __init__(self, name, allowed):
        self.name = name
        self.allowed = allowed  # modules LAYERS lets it include
        self.deps = None        # modules its CMake file names; None when it has no luminal_module()


class Checker:
    def __init__(self, root):
        self.root = root
        self.problems = []
        self.modules = {}
        self.rooms = Rooms(root, self.fail)
        self.public = set()   # repository paths of PUBLIC headers
        self.includes = 0
        self.files = 0

    def fail(self, path, line, message):
        self.problems.append(f"{path}:{line}: {message}")

    def check(self):
        self.read_layers()
        self.read_cmake_files()
        self.rooms.read()
        for folder in ("luminal", "apps", "examples", "tests", "python", "tools"):
            for path in sorted((self.root / folder).rglob("*")):
                relative = path.relative_to(self.root).as_posix()
                if path.is_file() and not relative.startswith("tests/golden/"):
                    self.check_file(path, relative)
        self.rooms.check_pairs()
        return self.problems

    def read_layers(self):
        layers = read_layers(self.root / "luminal/LAYERS", "luminal/LAYERS", self.fail)
        for name, allowed in layers.items():
            self.modules[name] = Module(name, allowed)
        for folder in sorted(p for p in (self.root / "luminal").iterdir() if p.is_dir()):
            if folder.name not in self.modules:
                self.fail(f"luminal/{folder.name}", 1, "this module is missing from luminal/LAYERS")

    def read_cmake_files(self):
        self.public |= {"luminal/luminal.h", "luminal/version.h"}
        for module in self.modules.values():
            relative = f"luminal/{module.name}/CMakeLists.txt"
            path = self.root / relative
            if not path.exists():
                continue
            text = re.sub(r"#[^\n]*", "", path.read_text())
            for match in re.finditer(r"luminal_module\s*\(([^)]*)\)", text):
                line = text.count("\n", 0, match.start()) + 1
                self.read_module_call(module, relative, line, match.group(1).split())

    def read_module_call(self, module, path, line, words):
        keyword = None
        if words[:1] != [module.name]:
            self.fail(path, line, f"luminal_module() in this folder must be named '{module.name}'")
        module.deps = module.deps or set()
        for word in words[1:]:
            if word in ("SOURCES", "PUBLIC", "DEPS", "LINKS"):
                keyword = word
            elif keyword == "PUBLIC":
                header = f"luminal/{module.name}/{word}"
                self.public.add(header)
                if not (self.root / header).exists():
                    self.fail(path, line, f"the PUBLIC header {header} does not exist")
            elif keyword == "DEPS":
                module.deps.add(word)
                if word not in module.allowed:
                    self.fail(path, line, f"DEPS names '{word}', which luminal/LAYERS does not allow '{module.name}'")

    def check_file(self, path, relative):
        if path.suffix not in CPP and path.suffix not in {".py", ".egg", ".sh", ".cmake", ".txt"}:
            return
        text = path.read_text(encoding="utf-8", errors="replace")
        lines = text.splitlines()
        self.files += 1
        if len(lines) > MAX_LINES and path.suffix != ".inc":  # tables that a script makes
            self.fail(relative, 1, f"{len(lines)} lines; a file has at most {MAX_LINES}")
        if path.suffix not in CPP:
            return
        if relative.startswith("examples/") and len(lines) > MAX_EXAMPLE_LINES:
            self.fail(relative, MAX_EXAMPLE_LINES + 1, f"an example has at most {MAX_EXAMPLE_LINES} lines, this one {len(lines)}")
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if match:
                self.includes += 1
                self.check_include(relative, number, match.group(1) == '"', match.group(2))
        if relative.startswith(("luminal/", "apps/")):
            self.check_calls(relative, text)

    def check_calls(self, relative, text):
        is_os_file = re.fullmatch(r"luminal/base/os/\w+\.cpp", relative)
        for number, line in enumerate(code_lines(text), 1):
            call = OS_CALL.search(line)
            if call and not is_os_file:
                name = call.group(0).strip("( ")
                self.fail(relative, number, f"operating-system call '{name}' outside luminal/base/os/*.cpp")
            if ENVIRONMENT.search(line) and relative != "luminal/base/os/paths.cpp":
                self.fail(relative, number, "the environment is read in luminal/base/os/paths.cpp only")

    def check_include(self, relative, number, quoted, header):
        if relative.startswith(("luminal/", "apps/")):
            is_os = header in OS_HEADERS or header.startswith(OS_HEADER_FOLDERS)
            if is_os and not re.fullmatch(r"luminal/base/os/\w+\.cpp", relative):
                self.fail(relative, number, f"operating-system header <{header}> outside luminal/base/os/*.cpp")
        ours = header.startswith("luminal/")
        if ours and not (self.root / header).exists():
            self.fail(relative, number, f"there is no '{header}'")
        if quoted and (self.root / header).exists():
            self.rooms.check_include(relative, number, header)
        if relative.startswith("luminal/"):
            if quoted and not ours:
                self.fail(relative, number, f'"{header}" is not a path from the repository\'s root')
            if ours:
                self.check_order(relative, number, header)
            self.check_public(relative, number, header, ours)
        if relative.startswith(("examples/", "tests/extend/")) and ours and header not in self.public:
            what = "an example" if relative.startswith("examples/") else "a test from outside"
            self.fail(relative, number, f"{what} includes '{header}', which is not PUBLIC")

    def check_order(self, relative, number, header):
        parts, target = relative.split("/"), header.split("/")
        if len(target) == 2:
            if header == "luminal/luminal.h" and len(parts) > 2:
                self.fail(relative, number, "a module can't include the umbrella luminal/luminal.h")
            return
        if len(parts) == 2:  # the umbrella is above every module
            return
        module, below = self.modules.get(parts[1]), target[1]
        if module is None or below == module.name:
            return
        if below not in module.allowed:
            self.fail(relative, number, f"'{module.name}' may not include '{below}' (luminal/LAYERS)")
        elif module.deps is not None and below not in module.deps:
            self.fail(relative, number, f"'{below}' is missing from DEPS in luminal/{module.name}/CMakeLists.txt")

    def check_public(self, relative, number, header, ours):
        if relative not in self.public:
            return
        if ours and header not in self.public:
            self.fail(relative, number, f"a PUBLIC header includes '{header}', which is not PUBLIC")
        if not ours and header not in STANDARD:
            self.fail(relative, number, f"a PUBLIC header includes <{header}>, which is not of the C++ standard library")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent,
                        help="the project to check (default: the one this script is in)")
    arguments = parser.parse_args()
    if not (arguments.root / "luminal/LAYERS").is_file():
        print(f"check-layers: no luminal/LAYERS in {arguments.root}", file=sys.stderr)
        return 2
    checker = Checker(arguments.root)
    problems = checker.check()
    for problem in problems:
        print(problem)
    print(f"check-layers: {checker.files} files, {checker.includes} includes, {checker.rooms.summary()}, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
