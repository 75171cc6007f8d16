"""What rules mean, and what they do to the e-graph: the claims `growth` and `rules-hold` of a group measure it."""
import json
import re

from claims import Short
from claims_support import last_line

MOST_MILLISECONDS = 100  # of a saturation of 32 layers
INSTANCES = 1000
LEAST_PLANTED = 20
RANDOM_GRAPHS = 20_000
PLANS_OF_EACH = 40


def growth(context):
    """The rows of Llama blocks, and the best of several saturations of 32 layers, by all rules."""
    result = context.run([context.program("tests/rules/saturation_growth_test")])
    rows = re.findall(r"^llama_rows (\d+) (\d+)$", result.stdout, re.MULTILINE)
    times = re.findall(r"^saturation_ms (\S+) (\S+) ([\d.]+) rows (\d+)$", result.stdout, re.MULTILINE)
    if not rows or not times:
        raise Short(last_line(result))
    (few, rows_of_few), (many, rows_of_many) = rows[1], rows[-1]
    listed = ", ".join(f"{model} {how} {float(ms):.1f} ms" for model, how, ms, _ in times)
    holds = result.returncode == 0 and len(times) == 4 and all(float(ms) <= MOST_MILLISECONDS for _, _, ms, _ in times)
    return f"{rows_of_few} rows of {few} Llama blocks, {rows_of_many} of {many}; 32 layers: {listed}", holds


def every_rule(context):
    result = context.run([context.program("apps/cli/luminal"), "rules", "test", "--instances", INSTANCES, "--json"])
    try:
        rules = json.loads(result.stdout)
    except json.JSONDecodeError as error:
        raise Short(last_line(result)) from error
    wrong = [rule["rule"] for rule in rules if not rule["holds"] or rule["instances"] < INSTANCES]
    return f"{len(rules) - len(wrong)} of {len(rules)} rules hold on {INSTANCES:,} instances" + "".join(
        f", {rule} doesn't" for rule in wrong), result.returncode == 0 and not wrong


def planted(context):
    result = context.run(["ctest", "--test-dir", context.build_dir, "-V", "-R", "^(rules_test|winograd_test)$"])
    sums = re.search(r"caught (\d+) wrong rules, and (\d+) of sums", result.stdout)
    convolutions = re.search(r"caught (\d+) wrong rules of convolutions", result.stdout)
    if sums is None or convolutions is None:
        raise Short(last_line(result))
    new = int(sums.group(2)) + int(convolutions.group(1))
    return f"{new} planted wrong rules of sums and convolutions caught, and {sums.group(1)} others", \
        result.returncode == 0 and new >= LEAST_PLANTED


def random_graphs(context):
    """By rules up to class finite: approximate ones err more than the bounds of these graphs."""
    result = context.run([context.program("tests/random_graphs/luminal_random_graphs"), "--finite", "--count",
                          RANDOM_GRAPHS, "--first-seed", 1000])
    if not result.stdout.strip().endswith("}"):
        raise Short(last_line(result))
    summary = json.loads(last_line(result))
    return (f"{summary['graphs'] - summary['failed']:,} of {summary['graphs']:,} random graphs agree",
            result.returncode == 0)


def random_strategies(context):
    result = context.run([context.program("tests/driver/random_strategies_test"), PLANS_OF_EACH])
    models = re.findall(rf"^(.*): {PLANS_OF_EACH} plans, \d+ changed steps$", result.stdout, re.MULTILINE)
    return f"{PLANS_OF_EACH} random plans with random strategies of each of {len(models)} models agree", \
        result.returncode == 0 and len(models) >= 4


def rules_hold(context):
    """All four, whatever the others came to."""
    measured, fine = zip(*[of(context) for of in (every_rule, planted, random_strategies, random_graphs)])
    return "; ".join(measured), all(fine)
