"""The programs that bench.py times, written from mathematics: sums, symbolic calculus, index arithmetic."""

import math


def ac_sum(terms):
    """A sum of distinct leaves, saturated under commutativity and associativity: every way to write it."""
    expression = f"(Leaf {terms - 1})"
    for i in reversed(range(terms - 1)):
        expression = f"(Add (Leaf {i}) {expression})"
    return f"""(datatype Sum (Leaf i64) (Add Sum Sum))
(rewrite (Add a b) (Add b a))
(rewrite (Add (Add a b) c) (Add a (Add b c)))
{expression}
(run-schedule (saturate (run)))
"""


def ac_rows(terms):
    """Rows of Add at the end: ordered pairs of disjoint non-empty sets of leaves."""
    return 3**terms - 2 ** (terms + 1) + 1


CALCULUS = """(datatype Math
  (Diff Math Math) (Integral Math Math)
  (Add Math Math) (Sub Math Math) (Mul Math Math) (Div Math Math) (Pow Math Math)
  (Ln Math) (Sqrt Math) (Sin Math) (Cos Math)
  (Const i64) (Var String))
(rewrite (Add a b) (Add b a))
(rewrite (Mul a b) (Mul b a))
(rewrite (Add a (Add b c)) (Add (Add a b) c))
(rewrite (Mul a (Mul b c)) (Mul (Mul a b) c))
(rewrite (Sub a b) (Add a (Mul (Const -1) b)))
(rewrite (Add a (Const 0)) a)
(rewrite (Mul a (Const 0)) (Const 0))
(rewrite (Mul a (Const 1)) a)
(rewrite (Sub a a) (Const 0))
(rewrite (Mul a (Add b c)) (Add (Mul a b) (Mul a c)))
(rewrite (Add (Mul a b) (Mul a c)) (Mul a (Add b c)))
(rewrite (Mul (Pow a b) (Pow a c)) (Pow a (Add b c)))
(rewrite (Pow x (Const 1)) x)
(rewrite (Pow x (Const 2)) (Mul x x))
(rewrite (Diff x (Add a b)) (Add (Diff x a) (Diff x b)))
(rewrite (Diff x (Mul a b)) (Add (Mul a (Diff x b)) (Mul b (Diff x a))))
(rewrite (Diff x (Sin x)) (Cos x))
(rewrite (Diff x (Cos x)) (Mul (Const -1) (Sin x)))
(rewrite (Integral (Const 1) x) x)
(rewrite (Integral (Cos x) x) (Sin x))
(rewrite (Integral (Sin x) x) (Mul (Const -1) (Cos x)))
(rewrite (Integral (Add f g) x) (Add (Integral f x) (Integral g x)))
(rewrite (Integral (Sub f g) x) (Sub (Integral f x) (Integral g x)))
(rewrite (Integral (Mul a b) x)
         (Sub (Mul a (Integral b x)) (Integral (Mul (Diff x a) (Integral b x)) x)))
(let x (Var "x"))
(let y (Var "y"))
(let five (Var "five"))
(Integral (Ln x) x)
(Integral (Add x (Cos x)) x)
(Integral (Mul (Cos x) x) x)
(Diff x (Add (Const 1) (Mul (Const 2) x)))
(Diff x (Sub (Pow x (Const 3)) (Mul (Const 7) (Pow x (Const 2)))))
(Add (Mul y (Add x y)) (Sub (Add x (Const 2)) (Add x x)))
(Div (Const 1) (Sub (Div (Add (Const 1) (Sqrt five)) (Const 2)) (Div (Sub (Const 1) (Sqrt five)) (Const 2))))
"""


def calculus(iterations):
    """The classic benchmark of equality saturation: algebra, derivatives and integrals."""
    return CALCULUS + f"(run {iterations})\n"


INDEX_RULES = """(datatype Ix (Num i64) (Sym String) (Add Ix Ix) (Mul Ix Ix) (Div Ix Ix) (Mod Ix Ix))
(rewrite (Add a b) (Add b a))
(rewrite (Mul a b) (Mul b a))
(rewrite (Add (Add a b) c) (Add a (Add b c)))
(rewrite (Mul (Mul a b) c) (Mul a (Mul b c)))
(rewrite (Mul a (Add b c)) (Add (Mul a b) (Mul a c)))
(rewrite (Add (Mul a b) (Mul a c)) (Mul a (Add b c)))
(rewrite (Add a (Num 0)) a)
(rewrite (Mul a (Num 1)) a)
(rewrite (Mul a (Num 0)) (Num 0))
(rewrite (Add (Num m) (Num n)) (Num (+ m n)) :when ((< (+ m n) 1000000)))
(rewrite (Mul (Num m) (Num n)) (Num (* m n)) :when ((< (* m n) 1000000)))
(rewrite (Div (Div a (Num m)) (Num n)) (Div a (Num (* m n))) :when ((> m 0) (> n 0) (< (* m n) 1000000)))
(rewrite (Mod (Mod a (Num m)) (Num n)) (Mod a (Num n)) :when ((> n 0) (= 0 (% m n))))
(rewrite (Mod (Div a (Num m)) (Num n)) (Div (Mod a (Num (* m n))) (Num m)) :when ((> m 0) (> n 0) (< (* m n) 1000000)))
(rewrite (Div (Add (Mul a (Num n)) b) (Num n)) (Add a (Div b (Num n))) :when ((> n 0)))
(rewrite (Mod (Add (Mul a (Num n)) b) (Num n)) (Mod b (Num n)) :when ((> n 0)))
(rewrite (Add (Mul (Div a (Num n)) (Num n)) (Mod a (Num n))) a :when ((> n 0)))
(rewrite (Div (Num m) (Num n)) (Num (/ m n)) :when ((>= m 0) (> n 0)))
(rewrite (Mod (Num m) (Num n)) (Num (% m n)) :when ((>= m 0) (> n 0)))
(rewrite (Div (Mul a (Num m)) (Num n)) (Mul a (Num (/ m n))) :when ((> n 0) (= 0 (% m n))))
"""


def index_arithmetic(iterations, sizes=(2, 2, 2, 3, 4, 5, 6, 8, 16)):
    """A row-major index of nine loops, split by div and mod and recombined in another order, twice, as in a
    reshape of a transpose."""

    def flatten(parts, dims):
        index = parts[0]
        for part, dim in zip(parts[1:], dims[1:]):
            index = f"(Add (Mul {index} (Num {dim})) {part})"
        return index

    def split(index, dims):
        return [f"(Mod (Div {index} (Num {math.prod(dims[axis + 1:])})) (Num {dim}))" for axis, dim in enumerate(dims)]

    def turn(values):
        return [*values[-1:], *values[:-1]]

    flat = flatten([f'(Sym "{name}")' for name in "ijklmnopq"[:len(sizes)]], sizes)
    once = flatten(turn(split("flat", sizes)), turn(sizes))
    twice = flatten(turn(split("once", turn(sizes))), turn(turn(sizes)))
    return INDEX_RULES + f"(let flat {flat})\n(let once {once})\n(let twice {twice})\n(run {iterations})\n"
