#!/usr/bin/env python3
"""The LLM suite's program; `bench.py --help` and docs/llm-benchmarks.md say what it does."""
import functools
import pathlib
import signal
import sys

# The project's root instead of this folder: files here have the names of installed packages.
sys.path[0] = str(pathlib.Path(__file__).resolve().parents[3])

from apps.bench.llm import dashboard, database, machine, options as command_line, picture, settings  # noqa: E402
from apps.bench.llm.jobs import jobs_of  # noqa: E402
from apps.bench.llm.paths import PATHS  # noqa: E402
from apps.bench.llm.suite import Suite  # noqa: E402
from apps.bench.llm.weights import Weights  # noqa: E402

BUILD_DIRS = ("build/ci", "build/dev")
say = functools.partial(print, flush=True)


def chosen_configs(options, configured):
    configs = settings.choose(configured, options.config) if options.config else [
        config for config in configured if config.default]
    if options.mode == "single" and not options.config:
        configs = configs[:1]
    left_out = settings.choose(configured, options.skip_configs)
    return [config for config in configs if config not in left_out]


def build_dir(given):
    if given is not None:
        return given.resolve()
    return next((machine.ROOT / name for name in BUILD_DIRS if (machine.ROOT / name / "CMakeCache.txt").exists()), None)


def measure(options, connection):
    configured = settings.read(options.benchmarks or settings.FILE)
    configs = chosen_configs(options, configured.configs)
    paths = [path for path in PATHS if path.name not in options.skip]
    jobs = jobs_of(options, configured, configs, paths)
    if not jobs:
        raise settings.SettingsError("nothing is left to measure; --list shows what would be without --skip")
    for config in (job.config for job in jobs):
        if options.max_cache_len and options.max_cache_len < config.prompt + config.decode_tokens:
            raise settings.SettingsError(f"--max-cache-len {options.max_cache_len} has no room for {config.name}: a prompt of "
                                         f"{config.prompt} and {config.decode_tokens} new tokens")
    if options.list:
        for job in jobs:
            say(f"{job}" + ("" if job.config.model.built else f"  (not built: {job.config.model.architecture})"))
        return None
    options.build_dir = build_dir(options.build_dir)
    weights = Weights(options.weights.resolve(), options.models, machine.memory()[0], say)
    return Suite(connection(), weights, options, say).run_all(jobs, options.mode)


def stop(*_):
    raise KeyboardInterrupt


def main():
    options = command_line.read()
    for number in (signal.SIGINT, signal.SIGTERM):  # also if a shell started it in the background: leave no processes behind
        signal.signal(number, stop)
    try:
        if not options.render_only:
            run_id = measure(options, lambda: database.open_file(options.db))
            if run_id is None:
                return 0
            options.run = options.run or run_id
        connection = database.open_file(options.db, create=False)
        dashboard.write(connection, options.out, options.run, say)
        if options.picture is not None:
            picture.write(connection, options.picture, options.run, say)
    except (settings.SettingsError, database.DatabaseError, dashboard.DashboardError, picture.PictureError) as error:
        print(f"bench.py: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"bench.py: interrupted; what was measured is in {options.db}, --render-only shows it", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
