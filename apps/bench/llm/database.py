"""bench.db: all runs and their results."""
import json
import sqlite3
import time

SCHEMA_VERSION = 1
SCHEMA = """
CREATE TABLE runs (
  run_id INTEGER PRIMARY KEY,      -- microseconds, later runs have larger ones
  timestamp TEXT NOT NULL,
  git_commit TEXT, git_branch TEXT, device_name TEXT, isa TEXT, threads INTEGER, memory_mb INTEGER, kernel TEXT,
  mode TEXT NOT NULL
);
CREATE TABLE results (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs(run_id) ON DELETE CASCADE,
  path TEXT NOT NULL, model TEXT NOT NULL, model_key TEXT NOT NULL, config TEXT NOT NULL,
  device TEXT NOT NULL, dtype TEXT NOT NULL,
  prompt_tokens INTEGER, iters INTEGER, warmups INTEGER, decode_tokens INTEGER, max_cache_len INTEGER,
  search_budget INTEGER,           -- plans that the search may try; 0: none, the compiler's model chooses
  status TEXT NOT NULL,
  ttft_ms REAL, ttft_ms_mean REAL, tpot_ms REAL, throughput_tps REAL, compile_ms REAL,
  ttft_samples TEXT, tpot_samples TEXT,  -- JSON arrays, ms
  memory_before_mb INTEGER, memory_after_mb INTEGER, peak_rss_mb INTEGER,
  others_cpu REAL,                 -- share of the processors that others took meanwhile
  note TEXT, error TEXT, created_at TEXT NOT NULL
);
CREATE INDEX results_of_run ON results(run_id);
CREATE INDEX results_by_config ON results(config, path, search_budget);
CREATE INDEX results_by_model ON results(model_key, path);
"""
RESULT_COLUMNS = ("run_id path model model_key config device dtype prompt_tokens iters warmups decode_tokens max_cache_len "
                  "search_budget status ttft_ms ttft_ms_mean tpot_ms throughput_tps compile_ms ttft_samples tpot_samples "
                  "memory_before_mb memory_after_mb peak_rss_mb others_cpu note error created_at").split()


class DatabaseError(Exception):
    """The file can't be used; the message says why."""


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def open_file(file, create=True):
    if not create and not file.exists():
        raise DatabaseError(f"there is no {file}; a run makes it, --db names another")
    file.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(file, timeout=30)
    connection.row_factory = sqlite3.Row
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == 0 and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            connection.executescript(SCHEMA + f"PRAGMA user_version = {SCHEMA_VERSION};")
            version = SCHEMA_VERSION
    except sqlite3.DatabaseError as error:
        raise DatabaseError(f"{file} is no database: {error}; --db names another") from error
    if version != SCHEMA_VERSION:
        raise DatabaseError(f"{file} has version {version} of the tables, not {SCHEMA_VERSION}; --db names another")
    return connection


def add_run(connection, mode, facts):
    """The new run's id: microseconds since 1970, but always greater than the last, even if the clock goes back."""
    with connection:
        last = connection.execute("SELECT max(run_id) FROM runs").fetchone()[0] or 0
        run_id = max(time.time_ns() // 1000, last + 1)
        row = {"run_id": run_id, "timestamp": now(), "mode": mode, **facts}
        connection.execute(f"INSERT INTO runs ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
                           list(row.values()))
    return run_id


def add_result(connection, row):
    """Adds a row by column names; samples are lists. Missing columns are NULL."""
    values = {"device": "cpu", "created_at": now(), **row}
    values = {key: json.dumps(value) if isinstance(value, list) else value for key, value in values.items()}
    with connection:
        connection.execute(f"INSERT INTO results ({', '.join(RESULT_COLUMNS)}) "
                           f"VALUES ({', '.join('?' * len(RESULT_COLUMNS))})",
                           [values.get(column) for column in RESULT_COLUMNS])


def runs(connection):
    return [dict(row) for row in connection.execute("SELECT * FROM runs ORDER BY run_id")]


def results(connection):
    rows = [dict(row) for row in connection.execute("SELECT * FROM results ORDER BY run_id, id")]
    for row in rows:
        for key in ("ttft_samples", "tpot_samples"):
            row[key] = json.loads(row[key]) if row[key] else []
    return rows
