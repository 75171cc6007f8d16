"""Random programs of the engine's language: terms, rewrites, relations, lattices, unions, deletes.

Their table sizes don't depend on the order in which an engine applies matches, so any two right
engines agree.
"""

import random

HEADER = """(datatype T (A) (B) (C) (F T) (G T T) (N i64))
(relation r (T T))
(relation s (i64 i64))
(relation gone (T))
(function low (T) i64 :merge (min old new))
(function top (i64) i64 :merge (max old new))
(ruleset more)
(ruleset sweep)"""


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def term(self, leaves, depth):
        pick = self.random.random()
        if depth == 0 or pick < 0.3:
            return self.random.choice(leaves)
        if pick < 0.6:
            return f"(F {self.term(leaves, depth - 1)})"
        return f"(G {self.term(leaves, depth - 1)} {self.term(leaves, depth - 1)})"

    def ground(self, depth=2):
        number = f"(N {self.random.randrange(4)})"
        return self.term(["(A)", "(B)", "(C)", number], depth)

    def pattern(self):
        """A call over variables, and the variables in it."""
        while True:
            text = self.term(["x", "y", "x", "(A)", "(N 1)", "(N n)"], self.random.choice([1, 2, 2]))
            if text[0] == "(":
                return text, [v for v in "xyn" if v in text]

    def rewrite(self):
        left, bound = self.pattern()
        terms = [v for v in bound if v != "n"] + ["(B)", "(N 2)"] + ["(N n)"] * ("n" in bound)
        right = self.term(terms, self.random.choice([0, 1, 1]))
        when = ""
        if "n" in bound and self.random.random() < 0.5:
            when = f" :when (({self.random.choice(['<', '>=', '!='])} n {self.random.randrange(3)}))"
        return f"(rewrite {left} {right}{when}{self.ruleset()})"

    def ruleset(self):
        return self.random.choice(["", "", " :ruleset more"])

    def fact(self):
        """A fact and what it binds: (text, terms, numbers)."""
        return self.random.choice(
            [
                ("(r x y)", "xy", ""),
                ("(r x x)", "x", ""),
                ("(r (F x) y)", "xy", ""),
                ("(r y x)", "xy", ""),
                ("(s n m)", "", "nm"),
                ("(s m n)", "", "nm"),
                ("(s n n)", "", "n"),
                ("(s n 1)", "", "n"),
                ("(= x (G y z))", "xyz", ""),
                ("(= y (F x))", "xy", ""),
                ("(= (F x) (F y))", "xy", ""),
                ("(= x (N n))", "x", "n"),
                ("(= n (low x))", "x", "n"),
                ("(= m (top n))", "", "nm"),
                ("(= (top n) (low x))", "x", "n"),
                ("(= x (A))", "x", ""),
            ]
        )

    def rule(self):
        chosen = [self.fact() for _ in range(self.random.choice([1, 2, 2, 3]))]
        terms = sorted({v for f in chosen for v in f[1]})
        numbers = sorted({v for f in chosen for v in f[2]})
        facts = [f[0] for f in chosen]
        if numbers and self.random.random() < 0.4:
            facts.append(f"(< {self.random.choice(numbers)} {self.random.randrange(1, 5)})")
        if numbers and self.random.random() < 0.3:
            facts.append(f"(= k (% 6 {self.random.choice(numbers)}))")
            numbers = numbers + ["k"]
        if len(terms) > 1 and self.random.random() < 0.3:
            facts.append(f"(!= {terms[0]} {terms[1]})")
        term = lambda: self.random.choice(terms + ["(A)", "(F (B))"])
        number = lambda: self.random.choice(numbers + ["0", "2"])
        actions = [
            f"(r {term()} {term()})",
            f"(s {number()} {number()})",
            f"(set (low {term()}) {number()})",
            f"(set (top {number()}) {number()})",
            f"(union {term()} {term()})",
            f"(s {number()} (min 5 (+ {number()} 1)))",
            f"(r {term()} (N {number()}))",
        ]
        return f"(rule ({' '.join(facts)}) ({' '.join(self.random.sample(actions, 2))}){self.ruleset()})"

    def program(self):
        lines = [HEADER]
        rules = [self.rewrite() for _ in range(self.random.randrange(1, 4))]
        rules += [self.rule() for _ in range(self.random.randrange(1, 5))]
        lines += dict.fromkeys(rules)  # egglog panics on a rule that is there twice
        lines.append("(rule ((gone x) (r x y)) ((delete (r x y))) :ruleset sweep)")
        for _ in range(self.random.randrange(1, 5)):
            lines.append(self.ground(3) if self.random.random() < 0.5 else f"(r {self.ground()} {self.ground()})")
            lines.append(f"(s {self.random.randrange(4)} {self.random.randrange(4)})")
        lines.append(f"(set (low {self.ground(1)}) {self.random.randrange(4)})")
        lines.append(f"(run {self.random.choice([1, 2, 3])})\n(print-size)")
        if self.random.random() < 0.6:
            lines.append(f"(union {self.ground(1)} {self.ground(1)})")
        if self.random.random() < 0.5:
            lines.append(f"(gone {self.ground(1)})")
        lines.append("(run-schedule (repeat 2 (seq (run) sweep (run more))))\n(print-size)")
        return "\n".join(lines) + "\n"


def program(seed):
    return Generator(seed).program()


if __name__ == "__main__":
    import sys

    print(program(int(sys.argv[1])), end="")
