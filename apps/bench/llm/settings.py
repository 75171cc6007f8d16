"""benchmarks.toml: models by their shapes, and configurations to measure."""
import dataclasses
import pathlib
import tomllib

FILE = pathlib.Path(__file__).with_name("benchmarks.toml")
DTYPES = ("bf16", "f32", "q8_0", "q4_0")


class SettingsError(Exception):
    """An invalid file, or an unknown name on the command line; the message says what is valid."""


@dataclasses.dataclass(frozen=True)
class Model:
    key: str
    architecture: str
    built: bool  # whether the suite can create weights for this architecture
    shape: dict  # the fields of config.json
    source: str = ""  # a GGUF file with real weights, below the folder of models
    why_not: str = ""  # if it isn't built


@dataclasses.dataclass(frozen=True)
class Config:
    name: str
    model: Model
    dtype: str
    prompt: int
    iters: int
    warmups: int
    decode_tokens: int
    candidates: int
    search_seconds: float
    sweep: bool  # whether the search sweep runs it
    default: bool = True  # part of a run of all configurations

    @property
    def max_cache_len(self):
        return self.prompt + self.decode_tokens + 1


@dataclasses.dataclass(frozen=True)
class Settings:
    models: dict
    configs: list
    sweep: list  # candidates
    sweep_seconds: float


def read_models(table, where):
    models = {}
    for key, entry in table.items():
        entry = dict(entry)
        architecture = entry.pop("architecture", None)
        if architecture is None:
            raise SettingsError(f"{where}: the model '{key}' has no architecture")
        models[key] = Model(key=key, architecture=architecture, built=entry.pop("built", True),
                            source=entry.pop("source", ""), why_not=entry.pop("why_not", ""), shape=entry)
    return models


def read_config(entry, defaults, models, where):
    entry = {**defaults, **entry}
    name = entry.get("name", "?")
    if entry.get("model") not in models:
        raise SettingsError(f"{where}: '{name}' is about the model '{entry.get('model')}', which isn't there; "
                            f"there are {', '.join(models)}")
    if entry["dtype"] not in DTYPES:
        raise SettingsError(f"{where}: '{name}' has the dtype '{entry['dtype']}'; known are {', '.join(DTYPES)}")
    unknown = set(entry) - {field.name for field in dataclasses.fields(Config)}
    if unknown:
        raise SettingsError(f"{where}: '{name}' has unknown fields: {', '.join(sorted(unknown))}")
    return Config(**{**entry, "model": models[entry["model"]]})


def read(file=FILE):
    try:
        data = tomllib.loads(pathlib.Path(file).read_text())
        models = read_models(data["models"], file)
        configs = [read_config(entry, data["defaults"], models, file) for entry in data["configs"]]
    except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
        raise SettingsError(f"can't read {file}: {error!r}") from error
    names = [config.name for config in configs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SettingsError(f"{file}: configurations with the same name: {', '.join(twice)}")
    return Settings(models=models, configs=configs, sweep=data["sweep"]["candidates"],
                    sweep_seconds=data["sweep"]["seconds"])


def named(configs, name):
    """The configuration with this name, or those of the model with this name: its default ones, if it has any."""
    exact = [config for config in configs if config.name == name]
    of_model = [config for config in configs if config.model.key == name]
    found = exact or [config for config in of_model if config.default] or of_model
    if not found:
        raise SettingsError(f"there is no configuration or model '{name}'; there are "
                            + ", ".join(config.name for config in configs))
    return found


def choose(configs, names):
    """The items with these names, in their own order."""
    chosen = [config.name for name in names for config in named(configs, name)]
    return [config for config in configs if config.name in chosen]
