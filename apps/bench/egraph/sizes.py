"""What (print-size) says."""
import re


def table_sizes(text):
    return {name: int(count) for name, count in re.findall(r"\(([^\s()]+) (\d+)\)", text)}
