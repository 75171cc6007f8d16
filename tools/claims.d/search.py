"""Search: tuning records."""
import re

from claims import Claim
from claims_support import last_line

KILL_ROUNDS = 50


def records_kill(context):
    program = context.program("tests/records/luminal_records_kill")
    result = context.run([program, "--rounds", KILL_ROUNDS])
    found = re.search(r"(\d+) killed, \d+ of them at work: (\d+) records reported as written, (\d+) lost, (\d+) damaged", result.stdout)
    killed, written, lost, damaged = map(int, found.groups()) if found else (0, 0, 1, 1)
    holds = result.returncode == 0 and killed == KILL_ROUNDS and written > 0 and lost == 0 and damaged == 0
    return last_line(result), holds


CLAIMS = [
    Claim(name="records-kill", target="four processes write to one file of records, one of them is killed (-9) at random, 50 "
          "rounds: no record lost, none damaged", minutes=0.5, measure=records_kill, quick=True),
]
