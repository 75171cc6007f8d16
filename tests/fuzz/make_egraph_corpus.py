#!/usr/bin/env python3
"""Writes the seed corpus of fuzz_egraph: what the programs of tests/egraph don't show, mostly mistakes.

Those programs are seeds too; the target reads them where they are.
"""
import pathlib

FOLDER = pathlib.Path(__file__).parent / "corpus" / "egraph"
SEEDS = {
    "empty": "",
    "comment": "; nothing else",
    "unclosed": "(datatype T (A)",
    "closed_twice": "(relation r (i64)))",
    "string_without_end": '(relation r (String))\n(r "abc',
    "escapes": '(relation r (String))\n(r "\\n\\t\\\\\\"\\0\\q")',
    "numbers": "(relation n (i64))\n(n 9223372036854775807)\n(n -9223372036854775808)\n(n 9223372036854775808)",
    "reals": "(relation f (f64))\n(f 1e308)\n(f 1e309)\n(f -0.0)\n(f .5)\n(f 1.)\n(f NaN)\n(f inf)",
    "deep": "(" * 3000,
    "deep_term": "(datatype T (A) (F T))\n" + "(F " * 300 + "(A)" + ")" * 300,
    "wrong_sorts": "(datatype T (A) (F T))\n(relation r (i64 T))\n(rule ((r x y) (r y x)) ((F x)))",
    "unbound": "(datatype T (A) (F T))\n(rule ((F x)) ((F y)))",
    "unknown": "(rule ((nothing x)) ((nowhere x)))",
    "twice": "(sort S)\n(sort S)\n(datatype S)",
    "merge": "(function f (i64) i64 :merge (+ old new))\n(set (f 1) 2)\n(set (f 1) 3)\n(function g () i64 :no-merge)"
             "\n(set (g) 1)\n(set (g) 2)",
    "partial": "(relation r (i64 i64))\n(rule ((r x y) (= z (/ x y))) ((r z (% x y))))\n(r 1 0)\n(r 4 2)\n(run 3)\n"
               "(let bad (/ 1 0))",
    "loops": "(datatype T (A) (F T) (G T T))\n(let a (A))\n(union a (F a))\n(rewrite (F x) (G x x))\n(run 100)\n"
             "(extract a)\n(print-size)",
    "growth": "(relation n (i64))\n(rule ((n x)) ((n (+ x 1)) (n (* x 2))))\n(n 1)\n"
              "(run-schedule (saturate (run)) (repeat 1000000 (run)))",
    "schedules": "(ruleset a)\n(run-schedule (repeat 0 a) (seq) (saturate (seq)) (repeat 99999999999 (seq)))\n(run 5)",
    "fails": '(relation r (i64))\n(fail (check (r 1)))\n(fail (panic "x"))\n(fail (r 1))',
    "deletes": "(datatype T (A) (F T))\n(F (A))\n(delete (F (A)))\n(delete (A))\n(subsume (F (A)))\n(extract (A))",
    "containers": "(datatype T (A) (B))\n(sort V (Vec T))\n(sort S (Set V))\n(sort M (Map i64 S))\n(relation r (M))\n"
                  "(r (map-insert (map-empty) 1 (set-of (vec-of (A) (B)) (vec-empty))))\n(union (A) (B))\n(print-size)",
    "vectors": "(sort V (Vec i64))\n(let v (vec-of 1 2))\n(extract (vec-get v -1))\n(extract (vec-set v 9 1))",
    "own_container": "(sort V (Vec V))\n(sort W (Vec Nothing))\n(sort X (Tree i64))\n(sort Y (Vec))",
    "bigints": '(relation b (BigInt))\n(b (from-string "123456789012345678901234567890"))\n(b (from-string "x"))\n'
               "(b (<< (bigint 1) 200))\n(b (/ (bigint 1) (bigint 0)))",
    "push_pop": "(push)\n(relation r (i64))\n(push 2)\n(r 1)\n(pop 3)\n(pop)\n(r 1)",
    "combined": "(ruleset a)\n(unstable-combined-ruleset b a)\n(unstable-combined-ruleset c b c)\n(run c 1)\n"
                "(rule () ((panic \"x\")) :ruleset b)",
    "until": "(relation n (i64))\n(rule ((n x)) ((n (+ x 1))))\n(n 0)\n(run 10 :until (n 2))\n(run 3 :until (= 1 x))",
    "options": '(datatype T (A) (F T :cost 3))\n(constructor H (T) T :cost 9 :unextractable)\n'
               '(rewrite (F x) x :when ((= x (A))) :subsume :name "n" :ruleset nothing)\n(rule () () :naive :naive)',
    "files": '(include "no/such/file")\n(input r "no/such/file")\n(output "no/such/folder/file" 1)',
    "print": "(datatype T (A) (F T))\n(F (A))\n(print-function F 3)\n(print-function G)\n(print-stats)\n(print-size F)",
    "bytes": "(relation \u00e9 (String))\n(\u00e9 \"\u4e16\u754c\")",
}


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in SEEDS.items():
        (FOLDER / name).write_bytes(text.encode())
    (FOLDER / "not_utf8").write_bytes(b"(relation \xff\xfe (i64))\x00(\xff 1)")


main()
