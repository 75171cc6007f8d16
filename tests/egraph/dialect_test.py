"""The writer of dialects: what it changes, and that it changes nothing else."""

import sys
import unittest

sys.dont_write_bytecode = True
import dialect  # noqa: E402

PROGRAM = '''; a comment with ( and "
(datatype T (A) (F T)) ; another
(rewrite (F x) x :when ((= x (A))) :name "a (name) \\" b" :ruleset r)
(birewrite (F x) (G x) :name "both" :ruleset r)
(rule ((F x)) ((A)) :name "kept")
(rewrite (F (F x)) x :subsume)
'''


class Dialect(unittest.TestCase):
    def test_commands_are_as_written(self):
        commands = list(dialect.commands(PROGRAM))
        self.assertEqual(len(commands), 5)
        self.assertEqual(commands[0], "(datatype T (A) (F T))")

    def test_names_leave_rewrites_for_the_old_wheel_only(self):
        old = list(dialect.write(PROGRAM, "13.1.0"))
        self.assertEqual(old[1], "(rewrite (F x) x :when ((= x (A))) :ruleset r)")
        self.assertEqual(old[2], "(birewrite (F x) (G x) :ruleset r)")
        self.assertEqual(old[3], '(rule ((F x)) ((A)) :name "kept")')
        self.assertEqual(list(dialect.write(PROGRAM, "13.2.0")), list(dialect.commands(PROGRAM)))

    def test_what_no_wheel_has_is_refused(self):
        with self.assertRaisesRegex(ValueError, ":naive"):
            list(dialect.write("(rule ((F x)) ((A)) :naive)", "13.2.0"))
        self.assertEqual(len(list(dialect.write('(f ":naive")', "13.2.0"))), 1)

    def test_every_rule_becomes_naive(self):
        naive = list(dialect.naive(PROGRAM))
        self.assertEqual(naive[1], '(rule ((= the-root (F x)) (= x (A))) ((union the-root x)) :naive '
                                   ':ruleset r :name "a (name) \\" b")')
        self.assertEqual(naive[2], '(rule ((= the-root (F x))) ((union the-root (G x))) :naive :ruleset r :name "both")')
        self.assertEqual(naive[3], '(rule ((= the-root (G x))) ((union the-root (F x))) :naive :ruleset r '
                                   ':name "both back")')
        self.assertEqual(naive[4], '(rule ((F x)) ((A)) :name "kept" :naive)')
        self.assertEqual(naive[5], "(rule ((= the-root (F (F x)))) ((union the-root x) (subsume (F (F x)))) :naive)")

    def test_a_string_or_list_without_an_end_is_an_error(self):
        with self.assertRaises(ValueError):
            list(dialect.commands('(f "abc)'))
        with self.assertRaises(ValueError):
            list(dialect.commands("(f (g)"))


if __name__ == "__main__":
    unittest.main()
