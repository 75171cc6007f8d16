"""Runs the measurements of a mode one after the other, and stores their results."""
import dataclasses
import statistics
import time

from . import database, machine, results, runner
from .results import Request, Result, Settings

BUSY = 0.1  # CPU share of other processes above which times are unreliable


@dataclasses.dataclass
class Small:
    """A setting at which a path ran out of memory."""
    config: str
    n_bytes: int
    cache: int

    def reaches(self, n_bytes, cache):
        return n_bytes >= self.n_bytes and cache >= self.cache


class Suite:
    def __init__(self, connection, weights, options, say=print, run=runner.run):
        self.connection, self.weights, self.options, self.say, self.run = connection, weights, options, say, run
        self.absent = {}  # path: why
        self.too_large = {}  # path: [Small]
        self.tokens = {}  # configuration: (path, tokens) of the first that ran it

    def cache_len(self, config):
        return self.options.max_cache_len or config.max_cache_len

    def known_before(self, job):
        """A result known without running a process; None if one must run."""
        config, path = job.config, job.path
        if not config.model.built:
            return Result(status=results.NOT_BUILT,
                          error=f"the architecture {config.model.architecture} isn't built yet: {config.model.why_not}")
        if path.name in self.absent:
            return Result(status=results.ABSENT, error=self.absent[path.name])
        if config.dtype not in path.dtypes:
            return Result(status=results.UNSUPPORTED, error=f"{path.title} has no weights in {config.dtype}")
        size = self.weights.bytes_of(config)
        for small in self.too_large.get(path.name, []):
            if small.reaches(size, self.cache_len(config)):
                return Result(status=results.SKIPPED, error=f"it ran out of memory at {small.config}, which is no larger")
        return None

    def request(self, job):
        """(the request, a note about its weights)"""
        config = job.config
        folder, note = self.weights.folder_of(config.model)
        gguf = self.weights.gguf_of(config.model, config.dtype)
        settings = Settings(folder=str(folder), gguf=str(gguf), dtype=config.dtype, prompt_tokens=config.prompt,
                            decode_tokens=config.decode_tokens, max_cache_len=self.cache_len(config),
                            threads=self.options.threads, warmups=config.warmups, candidates=config.candidates,
                            search_seconds=config.search_seconds)
        return Request(job.path.name, settings, config.iters, str(self.options.build_dir or "")), note

    def measure(self, job):
        """(the process's result, a note about its weights)"""
        known = self.known_before(job)
        if known is not None:
            free = machine.memory()[1]
            return runner.Finished(known, free, free, 0), ""
        request, note = self.request(job)
        time.sleep(self.options.cool_down)
        finished = self.run(job.path, request, runner.Limits(seconds=self.options.time_out))
        status = finished.result.status
        if status == results.ABSENT:
            self.absent[job.path.name] = finished.result.error
        if status == results.OUT_OF_MEMORY:
            small = Small(job.config.name, self.weights.bytes_of(job.config), self.cache_len(job.config))
            self.too_large.setdefault(job.path.name, []).append(small)
        return finished, note

    def agreement(self, job, result):
        """How many new tokens agree with the first path: a check that all run the same model."""
        if result.status != results.OK or not result.tokens:
            return ""
        path, tokens = self.tokens.setdefault(job.config.name, (job.path.name, result.tokens))
        if path == job.path.name:
            return ""
        same = next((k for k, (a, b) in enumerate(zip(tokens, result.tokens)) if a != b), len(tokens))
        return f"the first {same} tokens as {path}" if same < len(tokens) else f"tokens as {path}"

    def row(self, run_id, job, finished, note):
        config, result = job.config, finished.result
        model = config.model.key
        if "scaled" in note:
            model += f" ({self.weights.shape(config.model)[0]['num_hidden_layers']} layers)"
        notes = [text for text in (note, result.note, self.agreement(job, result)) if text]
        return {"run_id": run_id, "path": job.path.name, "model": model, "model_key": config.model.key,
                "config": config.name, "dtype": config.dtype, "prompt_tokens": config.prompt, "iters": config.iters,
                "warmups": config.warmups, "decode_tokens": config.decode_tokens,
                "max_cache_len": self.cache_len(config), "search_budget": config.candidates, "status": result.status,
                "compile_ms": result.compile_ms, **figures(result), "memory_before_mb": finished.memory_before >> 20,
                "memory_after_mb": finished.memory_after >> 20, "peak_rss_mb": finished.peak_rss >> 20,
                "others_cpu": finished.others_cpu,
                "note": "; ".join(notes), "error": result.error}

    def run_all(self, jobs, mode):
        """Returns the run's id. Stores each result immediately: an interrupted run keeps what it measured."""
        run_id = database.add_run(self.connection, mode, machine.facts(self.options.threads))
        self.say(f"run {run_id}: {len(jobs)} measurements, {self.options.threads} threads, {self.options.db}")
        for number, job in enumerate(jobs, 1):
            self.say(f"[{number}/{len(jobs)}] {job} …")
            start = time.monotonic()
            finished, note = self.measure(job)
            row = self.row(run_id, job, finished, note)
            database.add_result(self.connection, row)
            self.say(f"    {described(row)} ({time.monotonic() - start:.0f} s)")
        return run_id


def figures(result):
    """Statistics of the samples. Throughput: all new tokens of an iteration over its time, including the prompt."""
    if result.status != results.OK or not result.ttft_samples:
        return {"ttft_samples": [], "tpot_samples": []}
    ttft = statistics.median(result.ttft_samples)
    found = {"ttft_ms": ttft, "ttft_ms_mean": statistics.fmean(result.ttft_samples),
             "ttft_samples": [round(value, 4) for value in result.ttft_samples],
             "tpot_samples": [round(value, 4) for value in result.tpot_samples]}
    if result.tpot_samples:
        found["tpot_ms"] = statistics.median(result.tpot_samples)
        found["throughput_tps"] = 1e3 * (1 + len(result.tpot_samples)) / (ttft + sum(result.tpot_samples))
    return found


def described(row):
    if row["status"] != results.OK:
        return f"{row['status']}: {row['error']}"
    text = f"first token {row['ttft_ms']:.1f} ms"
    if row.get("tpot_ms"):
        text += f", then {row['tpot_ms']:.2f} ms each, {row['throughput_tps']:.1f} tokens/s"
    if row["compile_ms"]:
        text += f", compiled in {row['compile_ms'] / 1e3:.1f} s"
    if row["others_cpu"] > BUSY:
        text += f", others took {row['others_cpu']:.0%} of the machine"
    return text + f", {row['peak_rss_mb']} MB" + (f" — {row['note']}" if row["note"] else "")
