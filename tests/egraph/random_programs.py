"""Random programs of the engine's language: terms, containers, rewrites, relations, lattices, unions,
deletes, subsumption, rulesets and their combinations, conditions on runs, push and pop.

Their table sizes and extraction costs don't depend on the order in which an engine applies matches, so
any two right engines agree: merges commute, deletes have a ruleset of their own, no primitive shows the
order of ids.
"""

import random

HEADER = """(datatype T (A) (B) (C) (F T) (G T T) (N i64) (H T :cost 3))
(sort Ts (Vec T))
(sort Bag (Set T))
(sort Is (Set i64))
(constructor V (Ts) T)
(constructor S (Bag) T)
(relation r (T T))
(relation s (i64 i64))
(relation gone (T))
(relation row (Ts i64))
(function low (T) i64 :merge (min old new))
(function top (i64) i64 :merge (max old new))
(function mask (T) i64 :merge (| old new))
(function capped (i64) i64 :merge (min 6 (max old new)))
(function any (T) bool :merge (or old new))
(function seen (T) Is :merge (set-union old new))
(ruleset more)
(ruleset extra)
(ruleset sweep)
(unstable-combined-ruleset both more extra)"""

# A fact, the terms and the numbers that it binds, and the vectors.
FACTS = [
    ("(r x y)", "xy", "", ""),
    ("(r x x)", "x", "", ""),
    ("(r (F x) y)", "xy", "", ""),
    ("(r y x)", "xy", "", ""),
    ("(s n m)", "", "nm", ""),
    ("(s m n)", "", "nm", ""),
    ("(s n n)", "", "n", ""),
    ("(s n 1)", "", "n", ""),
    ("(= x (G y z))", "xyz", "", ""),
    ("(= y (F x))", "xy", "", ""),
    ("(= (F x) (F y))", "xy", "", ""),
    ("(= x (N n))", "x", "n", ""),
    ("(= n (low x))", "x", "n", ""),
    ("(= m (top n))", "", "nm", ""),
    ("(= (top n) (low x))", "x", "n", ""),
    ("(= x (A))", "x", "", ""),
    ("(= n (mask x))", "x", "n", ""),
    ("(= (capped n) m)", "", "nm", ""),
    ("(= true (any x))", "x", "", ""),
    ("(= x (V v))", "x", "", "v"),
    ("(= x (V (vec-of y z)))", "x", "", ""),
    ("(row v n)", "", "n", "v"),
    ("(= x (S (set-of (A))))", "x", "", ""),
]

SUBSUMED = {"(= y (F x))": "(subsume (F x))", "(= x (G y z))": "(subsume (G y z))", "(r x y)": "(subsume (r x y))"}


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.containers = self.random.random() < 0.5
        self.deletes = self.random.random() < 0.4

    def chance(self, probability):
        return self.random.random() < probability

    def term(self, leaves, depth):
        pick = self.random.random()
        if depth == 0 or pick < 0.3:
            return self.random.choice(leaves)
        below = lambda: self.term(leaves, depth - 1)
        if pick < 0.55:
            return f"(F {below()})"
        if pick < 0.6:
            return f"(H {below()})"
        if self.containers and pick < 0.7:
            return f"(V (vec-of {below()} {below()}))" if self.chance(0.6) else f"(S (set-of {below()} {below()}))"
        return f"(G {below()} {below()})"

    def ground(self, depth=2):
        number = f"(N {self.random.randrange(4)})"
        return self.term(["(A)", "(B)", "(C)", number], depth)

    def pattern(self):
        """A call over variables, and the variables in it. Containers aren't taken apart by patterns."""
        containers, self.containers = self.containers, False
        while True:
            text = self.term(["x", "y", "x", "(A)", "(N 1)", "(N n)"], self.random.choice([1, 2, 2]))
            if text[0] == "(":
                self.containers = containers
                return text, [v for v in "xyn" if v in text]

    def rewrite(self):
        left, bound = self.pattern()
        terms = [v for v in bound if v != "n"] + ["(B)", "(N 2)"] + ["(N n)"] * ("n" in bound)
        right = self.term(terms, self.random.choice([0, 1, 1]))
        options = ""
        if "n" in bound and self.chance(0.5):
            options += f" :when (({self.random.choice(['<', '>=', '!='])} n {self.random.randrange(3)}))"
        if self.chance(0.2):
            options += " :subsume"
        return f"(rewrite {left} {right}{options}{self.ruleset()})"

    def ruleset(self):
        return self.random.choice(["", "", " :ruleset more", " :ruleset extra"])

    def fact(self):
        while True:
            chosen = self.random.choice(FACTS)
            if self.containers or not any(word in chosen[0] for word in ("V", "row", "S")):
                return chosen

    def rule(self):
        chosen = [self.fact() for _ in range(self.random.choice([1, 2, 2, 3]))]
        terms, numbers, vectors = (sorted({v for f in chosen for v in f[kind]}) for kind in (1, 2, 3))
        facts = [f[0] for f in chosen]
        if any("vec-of y z" in fact for fact in facts) and not {"y", "z"} <= set(terms):
            facts += ["(r y z)"]
            terms = sorted({*terms, "y", "z"})
        if numbers and self.chance(0.4):
            facts.append(f"(< {self.random.choice(numbers)} {self.random.randrange(1, 5)})")
        if numbers and self.chance(0.3):
            facts.append(f"(= k (% 6 {self.random.choice(numbers)}))")
            numbers = numbers + ["k"]
        if vectors and self.chance(0.5):
            facts.append(f"(= w (vec-get v {self.random.randrange(3)}))")
            terms = terms + ["w"]
        if vectors and self.chance(0.3):
            facts.append("(= len (vec-length v))")
            numbers = numbers + ["len"]
        if len(terms) > 1 and self.chance(0.3):
            facts.append(f"(!= {terms[0]} {terms[1]})")
        actions = self.random.sample(self.actions(terms, numbers, vectors), 2)
        # Only rows that the rule has matched: what subsuming a row that isn't there means is nobody's concern.
        if self.chance(0.3):
            actions += [subsumed for fact, subsumed in SUBSUMED.items() if fact in facts]
        return f"(rule ({' '.join(facts)}) ({' '.join(actions)}){self.ruleset()})"

    def actions(self, terms, numbers, vectors):
        term = lambda: self.random.choice(terms + ["(A)", "(F (B))"])
        number = lambda: self.random.choice(numbers + ["0", "2"])
        actions = [
            f"(r {term()} {term()})",
            f"(s {number()} {number()})",
            f"(set (low {term()}) {number()})",
            f"(set (top {number()}) {number()})",
            f"(set (mask {term()}) {number()})",
            f"(set (capped {number()}) {number()})",
            f"(set (any {term()}) {self.random.choice(['true', 'false'])})",
            f"(union {term()} {term()})",
            f"(s {number()} (min 5 (+ {number()} 1)))",
            f"(r {term()} (N {number()}))",
            f"(set (seen {term()}) (set-of {number()}))",
        ]
        if self.containers:
            actions += [
                f"(union {term()} (V (vec-of {term()} {term()})))",
                f"(row (vec-of {term()}) {number()})",
                f"(r {term()} (S (set-of {term()} {term()})))",
            ]
            actions += [f"(row (vec-pop {v}) {number()})" for v in vectors]
        return actions

    def facts(self):
        for _ in range(self.random.randrange(1, 5)):
            yield self.ground(3) if self.chance(0.5) else f"(r {self.ground()} {self.ground()})"
            yield f"(s {self.random.randrange(4)} {self.random.randrange(4)})"
        yield f"(set (low {self.ground(1)}) {self.random.randrange(4)})"
        if self.containers:
            yield f"(row (vec-of {self.ground(1)} {self.ground(1)}) {self.random.randrange(3)})"

    def first_run(self):
        until = f" :until ({self.random.choice(['r (A) x', 's 2 n', '= (A) (B)'])})" if self.chance(0.2) else ""
        ruleset = self.random.choice(["", "", "both "])
        return f"(run {ruleset}{self.random.choice([1, 2, 3])}{until})"

    def last_run(self):
        steps = self.random.choice(["(run) sweep (run more)", "(run) sweep both", "both (run :until (s 3 3)) sweep"])
        return f"(run-schedule (repeat 2 (seq {steps})))"

    def program(self):
        lines = [HEADER]
        rules = [self.rewrite() for _ in range(self.random.randrange(1, 4))]
        rules += [self.rule() for _ in range(self.random.randrange(1, 5))]
        lines += dict.fromkeys(rules)  # egglog panics on a rule that is there twice
        lines.append("(rule ((gone x) (r x y)) ((delete (r x y))) :ruleset sweep)" if self.deletes else
                     "(rule ((gone x) (r x y)) ((r y x)) :ruleset sweep)")
        lines += self.facts()
        if self.chance(0.2):
            lines += ["(push)", f"(union {self.ground(1)} {self.ground(1)})", "(run 1)", "(print-size)", "(pop)"]
        lines += [self.first_run(), "(print-size)"]
        if self.chance(0.6):
            lines.append(f"(union {self.ground(1)} {self.ground(1)})")
        if self.chance(0.5):
            lines.append(f"(gone {self.ground(1)})")
        lines += [f"(let root {self.ground(2)})", self.last_run(), "(print-size)"]
        if not any("subsume" in line for line in lines):  # a root whose only row is subsumed has no term
            lines.append("(extract root)")
        return "\n".join(lines) + "\n"


def program(seed):
    return Generator(seed).program()


if __name__ == "__main__":
    import sys

    print(program(int(sys.argv[1])), end="")
