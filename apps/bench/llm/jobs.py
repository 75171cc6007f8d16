"""The measurements of a mode, in order."""
import dataclasses

from .paths import SEARCHING

MODES = {
    "single": "the configurations that --config names, on every path; the first one if it isn't given",
    "all-configs": "all configurations on every path",
    "search-sweep": "luminal alone, with searches of more and more candidates",
    "full": "all configurations, then the sweep",
    "full-fast": "full without the sweep",
}


@dataclasses.dataclass(frozen=True)
class Job:
    path: object
    config: object

    def __str__(self):
        budget = f", {self.config.candidates} candidates" if self.config.candidates else ""
        return f"{self.config.name} · {self.path.name}{budget}"


def overridden(config, options):
    """The configuration with the prompts, dtypes and counts of the command line."""
    given = {"dtype": options.dtype, "prompt": options.prompt, "iters": options.iters, "warmups": options.warmups,
             "decode_tokens": options.decode_tokens}
    given = {key: value for key, value in given.items() if value is not None}
    changes = {key: value for key, value in given.items() if value != getattr(config, key)}
    # Another prompt or dtype is another configuration, and must not share its line in plots.
    words = [f"prompt {changes['prompt']}"] if "prompt" in changes else []
    words += [changes["dtype"]] if "dtype" in changes else []
    name = config.name + (f" ({', '.join(words)})" if words else "")
    return dataclasses.replace(config, **changes, name=name)


def distinct(configs):
    """Drops configurations that the command line has made equal."""
    seen, kept = set(), []
    for config in configs:
        key = dataclasses.replace(config, name="", sweep=False, model=config.model.key)
        if key not in seen:
            seen.add(key)
            kept.append(config)
    return kept


def jobs_of(options, settings, configs, paths):
    """`configs` and `paths` are those selected by the options."""
    configs = distinct([overridden(config, options) for config in configs])
    jobs = []
    if options.mode != "search-sweep":
        jobs += [Job(path, config) for config in configs for path in paths]
    searching = [path for path in paths if path.name == SEARCHING]
    if options.mode in ("search-sweep", "full") and not options.no_sweep:
        swept = [config for config in configs if config.sweep or options.config]
        jobs += [Job(path, dataclasses.replace(config, candidates=candidates, search_seconds=settings.sweep_seconds))
                 for config in swept for path in searching for candidates in settings.sweep]
    return jobs
