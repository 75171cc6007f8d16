#!/usr/bin/env bash
# Installs dependencies by package name: by default what building needs, 220 MB of Debian packages to download on a minimal
# Debian 12; --test makes that 455 MB, and adds Python packages in a virtual environment.
# docs/dependencies.md says what each is for. Running it again when all is there takes about a second.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: tools/install-deps.sh [--test] [--peers] [--venv DIR] [--no-system] [--no-python] [--list]
  --test        also what tests and checks need: GoogleTest, clang 19, oracles (PyTorch, egglog, tokenizers …), a browser, oneDNN,
                and what makes packages
  --peers       also what benchmarks compare with: llama.cpp, which is compiled here for some minutes, OpenVINO and
                ONNX Runtime; implies --test
  --venv DIR    where the Python packages of --test and --peers go (default: .venv in the project's root)
  --no-system   leave the Debian packages alone
  --no-python   leave the virtual environment alone
  --list        only print the Debian packages
USAGE
}

root=$(cd "$(dirname "$0")/.." && pwd)
venv="$root/.venv"
system=1
python=1
tests=0
peers=0
list=0
while [ $# -gt 0 ]; do
  case "$1" in
    --venv) [ $# -ge 2 ] || { usage >&2; exit 2; }; venv=$2; shift 2 ;;
    --no-system) system=0; shift ;;
    --no-python) python=0; shift ;;
    --test) tests=1; shift ;;
    --peers) tests=1; peers=1; shift ;;
    --list) list=1; shift ;;
    -h | --help) usage; exit 0 ;;
    *) echo "install-deps: unknown option '$1'" >&2; usage >&2; exit 2 ;;
  esac
done

system_packages=(
  g++ cmake ninja-build python3
  llvm-19-dev libfmt-dev libsqlite3-dev nlohmann-json3-dev libcli11-dev libedit-dev
)
test_packages=(
  libgtest-dev libgmock-dev
  git ccache clang-19 clang-format-19 libclang-rt-19-dev lld-19
  graphviz chromium python3-venv python3-dev stress-ng
  zlib1g-dev libzstd-dev dpkg-dev file debootstrap pkg-config
)
python_packages=(torch==2.13.0 numpy safetensors egglog==13.1.0
  onednn-devel-cpu-gomp==2023.2.0 onednn-cpu-gomp==2023.2.0
  nanobind==3.1.0 scikit-build-core==1.1.2 mypy==1.18.2 expecttest==0.3.0
  tokenizers==0.23.3 sentencepiece==0.2.2 jinja2==3.1.6 transformers==5.22.2
  mkdocs-material==9.6.23 plotly==7.1.0)
peer_packages=(openvino==2026.4.1 onnxruntime==1.31.1 onnx==1.23.2)
# Compiled from source, and not by g++ 12, which breaks its AMX path.
llama_cpp=llama-cpp-python==0.3.36
# A second wheel of egglog, in a folder of its own: benchmarks run against the faster of the two.
second_egglog=13.2.0

[ "$tests" = 0 ] || system_packages+=("${test_packages[@]}")
if [ "$list" = 1 ]; then
  echo "${system_packages[*]}"
  exit 0
fi

if [ "$system" = 1 ]; then
  missing=()
  for package in "${system_packages[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    echo "install-deps: installing ${missing[*]}"
    as_root=()
    if [ "$(id -u)" != 0 ]; then
      command -v sudo >/dev/null || { echo "install-deps: run as root, or install sudo, to add: ${missing[*]}" >&2; exit 1; }
      as_root=(sudo)
    fi
    "${as_root[@]}" apt-get update -q
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
  fi
fi

if [ "$tests" = 1 ] && [ "$python" = 1 ]; then
  [ -x "$venv/bin/python" ] || python3 -m venv "$venv"
  # The stamp holds the list that was installed, so that an unchanged list costs nothing.
  stamp="$venv/.luminal-packages"
  if [ "$(cat "$stamp" 2>/dev/null)" != "${python_packages[*]}" ]; then
    echo "install-deps: installing ${python_packages[*]} into $venv"
    "$venv/bin/python" -m pip install -q "${python_packages[@]}"
    echo "${python_packages[*]}" >"$stamp"
  fi
  if [ ! -d "$venv/egglog-$second_egglog/egglog-$second_egglog.dist-info" ]; then
    echo "install-deps: installing egglog==$second_egglog into $venv/egglog-$second_egglog"
    "$venv/bin/python" -m pip install -q --no-deps --upgrade --target "$venv/egglog-$second_egglog" "egglog==$second_egglog"
  fi
fi

if [ "$peers" = 1 ]; then
  [ -x "$venv/bin/python" ] || { echo "install-deps: --peers needs the virtual environment; leave --no-python out" >&2; exit 1; }
  stamp="$venv/.luminal-peers"
  if [ "$(cat "$stamp" 2>/dev/null)" != "${peer_packages[*]} $llama_cpp" ]; then
    echo "install-deps: installing ${peer_packages[*]} into $venv"
    "$venv/bin/python" -m pip install -q "${peer_packages[@]}"
    echo "install-deps: compiling $llama_cpp with clang 19, which takes some minutes"
    CC=clang-19 CXX=clang++-19 CMAKE_ARGS=-DGGML_NATIVE=ON CMAKE_BUILD_PARALLEL_LEVEL=$(nproc) \
      "$venv/bin/python" -m pip install -q --no-binary llama-cpp-python "$llama_cpp"
    echo "${peer_packages[*]} $llama_cpp" >"$stamp"
  fi
fi
echo "install-deps: all dependencies are there"
