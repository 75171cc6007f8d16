"""Interleaved rounds, and the statistics of their times; statistics.h has the same in C++.

Each round has a turn for all sides, one after the other, so that other load on the machine affects all alike; the side
that starts changes from round to round.
"""
import math
import statistics
import time

CONFIDENCE = 0.95
# After a parallel region OpenMP's threads spin for some milliseconds, which would take a core from the next side.
SETTLE_SECONDS = 0.03


def interleaved(sides, rounds, settle=SETTLE_SECONDS, after_round=None):
    """{side: what its function returned, by round}. `after_round(number, results)` may say how far it is."""
    results, order = {side: [] for side in sides}, list(sides)
    for number in range(rounds):
        for turn in range(len(order)):
            side = order[(turn + number) % len(order)]
            time.sleep(settle)
            results[side].append(sides[side]())
        if after_round is not None:
            after_round(number, results)
    return results


def left_out(n, confidence):
    """How many samples may be dropped at each end so that the others' range still holds the median: the sign test."""
    chance, total, k = 2.0 ** -n, 0.0, 0
    while k < n // 2:
        total += chance
        if total > (1 - confidence) / 2:
            break
        chance *= (n - k) / (k + 1)
        k += 1
    return k


def interval(values, confidence=CONFIDENCE):
    """Contains the median with this confidence, whatever the distribution; with too few values it is 0 to infinity."""
    k = left_out(len(values), confidence)
    if k == 0:
        return 0.0, math.inf
    ordered = sorted(values)
    return ordered[k - 1], ordered[len(ordered) - k]


def ratio(seconds, by, confidence=CONFIDENCE):
    """{"ratio": the median over rounds of one side's seconds by another's, "low", "high", "rounds"}; "high" is None
    if there are too few rounds for an interval."""
    ratios = [one / other for one, other in zip(seconds, by)]
    low, high = interval(ratios, confidence)
    return {"ratio": statistics.median(ratios), "low": low, "high": high if math.isfinite(high) else None,
            "rounds": len(ratios)}


def milliseconds(seconds):
    """{"ms": the median of one side, "quartiles_ms"}."""
    quartiles = statistics.quantiles(seconds, n=4) if len(seconds) > 1 else [seconds[0]] * 3
    return {"ms": statistics.median(seconds) * 1e3, "quartiles_ms": [quartiles[0] * 1e3, quartiles[2] * 1e3]}


def best(*sides):
    """The best of several sides, round by round."""
    return [min(times) for times in zip(*sides)]


def shown(found, digits=2):
    """A ratio as text: "1.31 (1.28 … 1.35)"."""
    if found["high"] is None:
        return f"{found['ratio']:.{digits}f} (of {found['rounds']} rounds, too few for an interval)"
    return f"{found['ratio']:.{digits}f} ({found['low']:.{digits}f} … {found['high']:.{digits}f})"
