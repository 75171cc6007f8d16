"""The commands that answer questions about rules: `debug-ops` and `egg`. Usage: questions_test.py PROGRAM SOURCE_DIR"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])


def run(*arguments, text="", environment=None):
    return subprocess.run([PROGRAM, *arguments], input=text, capture_output=True, text=True,
                          env={**os.environ, **(environment or {})})


class DebugOps(unittest.TestCase):
    def ask(self, *arguments, text=""):
        result = run("debug-ops", *arguments, "--json", text=text)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def cause(self, fault, **expected):
        answer = self.ask("--case", "fault-" + fault, "--analyze")
        first = answer["causes"][0]
        self.assertEqual({key: first.get(key) for key in expected}, expected)
        return answer, first

    def test_a_usual_graph_has_nothing_wrong(self):
        for name in ("softmax", "layer-norm", "attention", "mlp"):
            answer = self.ask("--case", name, "--analyze", "--trace-missing-dtype")
            self.assertEqual((answer["planned"], answer["causes"], answer["missing_dtype"]), (True, [], []))

    def test_a_missing_lowering_is_named_with_the_nearest_rule_and_its_guard(self):
        answer, first = self.cause("missing-lowering", cause="missing-lowering", op="%2 (sin)", rule="sin-goes-away",
                                   nearest_rule="sin-comes-back", guard="(is-identity [i1, i0])")
        self.assertFalse(answer["planned"])

    def test_a_missing_dtype_is_named(self):
        _, first = self.cause("missing-dtype", cause="missing-dtype", rule="root-in-double")
        self.assertIn("no dtype 'double'", first["why"])
        missing = self.ask("--case", "fault-missing-dtype", "--trace-missing-dtype")["missing_dtype"]
        self.assertEqual(len(missing), 2)
        self.assertIn("root-in-double", missing[0]["rules"])

    def test_a_guard_that_never_holds_is_named(self):
        answer, _ = self.cause("guard", cause="guard-never-holds", rule="root-of-a-view", op="%5 (sqrt)",
                               guard="(is-identity [i1, i0])")
        self.assertTrue(answer["planned"])

    def test_a_wrong_arity_is_named(self):
        _, first = self.cause("arity", cause="wrong-arity", rule="lone-add")
        self.assertIn("fault-arity.egg:2:10: 'Add' takes 2 arguments, found 1", first["why"])

    def test_a_rule_that_joins_types_is_named(self):
        _, first = self.cause("types", cause="joined-types", rule="cast-vanishes")
        self.assertIn("f16", first["why"])

    def test_a_rule_that_does_not_run_is_named(self):
        self.cause("disabled", cause="rule-off", rule="add-turns-round", why="its group 'planted' is disabled",
                   would_match="%6 (add)")
        self.cause("numerics", cause="rule-off", rule="through-bf16",
                   why="its class 'approximate' isn't admitted by numerics 'reassociating'")

    def test_a_term_that_needs_itself_is_named(self):
        self.cause("cycle", cause="cyclic", rule="turns-in-circles", op="%2 (sin)")

    def test_a_kernel_over_its_limits_is_named(self):
        self.cause("limits", cause="over-limits", op="%6 (add)", why="too many instances")

    def test_an_op_says_what_became_of_it(self):
        found = self.ask("--case", "softmax", "--inspect-op", "Exp2:CpuKernel")["inspect_op"]
        self.assertEqual([(one["became"], one["kernels"]) for one in found], [("CpuKernel", ["kernel 0"])])
        self.assertIn("(Exp2 #", found[0]["terms"][0])
        scan = """luminal-graph 1
%0 = input "x" : f32[4, 8]
%1 = scan sum %0 : f32[4, 8]
output "y" %1
"""
        found = self.ask("-", "--inspect-op", "scan:CpuKernel", text=scan)["inspect_op"]
        self.assertEqual(found[0]["became"], "CpuKernel", found[0])
        broken = self.ask("--case", "fault-cycle", "--inspect-op", "Sin:CpuKernel")["inspect_op"]
        self.assertEqual(broken[0]["became"], "nothing")
        self.assertIn("cyclic at %2 (sin)", broken[0]["why"])

    def test_a_tensor_says_where_it_is(self):
        found = self.ask("--case", "softmax", "--inspect-var", "x", "--inspect-var", "y")["inspect_var"]
        self.assertEqual((found[0]["type"], found[0]["became"]), ("f32[s, 256]", "Source"))
        self.assertGreaterEqual(len(found[0]["users"]), 2)
        self.assertEqual(found[1]["kernels"], ["kernel 0, which stores it"])
        self.assertIn("output 'y'", found[1]["users"])

    def test_a_function_is_traced_at_a_tensor(self):
        rows = self.ask("--case", "softmax", "--trace-fn", "Load", "x")["trace_fn"]
        self.assertEqual([row["by"] for row in rows], ["initial"])
        self.assertTrue(rows[0]["row"].startswith("(Load #"), rows)
        rows = self.ask("--case", "softmax", "--trace-fn", "Load", "x", "--trace-fn", "Exp2", "%11")["trace_fn"]
        self.assertEqual([row["row"].split()[0] for row in rows], ["(Load", "(Exp2"])

    def test_why_not_at_a_tensor(self):
        found = self.ask("--case", "fault-guard", "--why-not", "root-of-a-view", "--at", "%5")["why_not"][0]
        self.assertEqual((found["outcome"], found["subject"]), ("failed-guard", "(is-identity [i1, i0])"))
        found = self.ask("--case", "fault-disabled", "--why-not", "add-turns-round", "--at", "%6")["why_not"][0]
        self.assertEqual((found["outcome"], found["off"]), ("matches", "its group 'planted' is disabled"))

    def test_a_wrong_term_is_named_with_its_rule(self):
        for right, cause in (('(Load (Source 99))', "wrong-term"), ('(Mul x (Cast "f16" x))', "wrong-term"),
                             ("(Gather x x)", "joined-types")):
            with self.subTest(right), tempfile.TemporaryDirectory() as folder:
                rules = pathlib.Path(folder) / "mine.egg"
                rules.write_text(f"""(ruleset mine.exact)
(rewrite (Exp2 x) {right} :ruleset mine.exact :name "mine")
""")
                found = self.ask(str(SOURCE / "examples/feed_forward.lum"), "--rules", str(rules), "--analyze")
                first = found["causes"][0]
                self.assertEqual((first["cause"], first["rule"]), (cause, "mine"), found["causes"])
                self.assertNotIn("rule-unmatched", [one["cause"] for one in found["causes"]])

    def test_a_rule_may_make_what_nothing_needs(self):
        text = """luminal-graph 1
%0 = input "x" : f32[4, 8]
%1 = exp2 %0 : f32[4, 8]
output "y" %1
"""
        with tempfile.TemporaryDirectory() as folder:
            rules = pathlib.Path(folder) / "mine.egg"
            rules.write_text("""(ruleset mine.exact)
(rewrite (Exp2 x) (Recip (Call1 "no-such-op" x)) :ruleset mine.exact :name "through-a-call")
""")
            found = self.ask("-", "--rules", str(rules), "--analyze", text=text)
        self.assertEqual((found["planned"], found["causes"]), (True, []), found)

    def test_wrong_questions_are_answered_with_what_there_is(self):
        for arguments, code, message in (
                ((), 2, "give a graph's file or --case NAME"),
                (("--case", "nonsense"), 1, "there is no case 'nonsense'; known:"),
                (("--case", "mlp", "--inspect-op", "Fused"), 1, "there is no op 'Fused'; known: input"),
                (("--case", "mlp", "--inspect-var", "z"), 1, "there is no tensor 'z'; known: 'x', 'up', 'down', 'y'"),
                (("--case", "mlp", "--why-not", "nonsense", "--at", "x"), 1, "there is no rule 'nonsense'"),
                (("--case", "mlp", "--why-not", "views-compose"), 2, "needs an --at TENSOR")):
            with self.subTest(arguments):
                result = run("debug-ops", *arguments)
                self.assertEqual(result.returncode, code)
                self.assertIn(message, result.stderr)


class Egg(unittest.TestCase):
    """Runs on tests/apps/program.egg."""

    FILE = str(SOURCE / "tests/apps/program.egg")
    OUTPUT = '(Mul (Num 2) (Add (Var "x") (Add (Var "y") (Num 3))))\n26\n'
    FOREVER = """(function f () i64 :merge (max old new)) (set (f) 0)
        (rule ((= x (f))) ((set (f) (+ x 1))) :name "forever")
        (run-schedule (saturate (run)))"""

    def egg(self, *arguments, text=""):
        result = run("egg", *arguments, text=text)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def test_a_program_prints_its_outputs(self):
        result = self.egg(self.FILE)
        self.assertEqual((result.stdout, result.stderr), (self.OUTPUT, ""))
        self.assertEqual(self.egg("-", text=pathlib.Path(self.FILE).read_text()).stdout, self.OUTPUT)

    def test_files_are_reached_only_when_allowed(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "inside").mkdir()
            (folder / "inside/more.egg").write_text("(relation more (i64))")
            (folder / "rows.tsv").write_text("secret")
            out = folder / "out.txt"
            program = folder / "inside/program.egg"
            for text, refused in ((f'(output "{out}" 1)', "can't be written"),
                                  (f'(relation r (String)) (input r "{folder}/rows.tsv")', "can't be read"),
                                  ('(include "../rows.tsv")', "can't be read"),
                                  (f'(include "{SOURCE}/tests/apps/program.egg")', "can't be read"),
                                  ('(relation r (String)) (print-function r 1 :file "x")', None)):
                program.write_text(text)
                result = run("egg", str(program))
                self.assertEqual(result.returncode, 1, text)
                if refused:
                    self.assertIn(refused, result.stderr)
                    self.assertIn("--allow-files", result.stderr)
            self.assertFalse(out.exists())
            program.write_text(f'(include "more.egg") (print-size more)')
            self.assertEqual(self.egg(str(program)).stdout, "0\n")
            program.write_text(f'(relation r (String)) (input r "{folder}/rows.tsv") (output "{out}" 1)')
            self.egg(str(program), "--allow-files")
            self.assertEqual(out.read_text(), "1\n")

    def test_strings_that_double_stop_at_the_limit_of_bytes(self):
        program = '(relation r (String)) (r "aaaaaaaaaaaaaaaa") (rule ((r x)) ((r (+ x x))) :name "double") (run 100)'
        self.assertIn("stopped at the limit of bytes, look at rule 'double'",
                      self.egg("-", "--max-bytes", "1MB", text=program).stdout)

    def test_programs_share_an_e_graph(self):
        self.assertEqual(self.egg(self.FILE, "-", text="(extract f)").stdout, self.OUTPUT + "(Add (Num 3) (Num 7))\n")

    def test_errors_name_their_place_after_what_was_printed(self):
        result = run("egg", "-", text="(datatype T (A))\n(extract (A))\n  (extract (B))")
        self.assertEqual((result.returncode, result.stdout), (1, "(A)\n"))
        self.assertTrue(result.stderr.startswith("luminal: <stdin>:3:12: 'B' is neither"), result.stderr)

    def test_stats_name_rules_and_growth(self):
        output = self.egg(self.FILE, "--stats").stdout
        self.assertTrue(output.startswith(self.OUTPUT + "finished: 4 iterations, "), output)
        self.assertRegex(output, r"(?m)^candidates +matches +new facts +tuples +updates +unions +ms +rule$")
        self.assertRegex(output, r"(?m)^ +4 +\d+ +\d+ +\d+ +\d+  default  commute, \d+ %$")
        self.assertRegex(output, r"growth: 9 -> 38 tuples; rule 'commute' added \d+ % of the \d+ new tuples")

    def test_stats_as_json_hold_each_rule_in_each_iteration(self):
        result = self.egg(self.FILE, "--stats-json", "-")
        self.assertEqual(result.stderr, self.OUTPUT)
        stats = json.loads(result.stdout)
        self.assertEqual([rule["name"] for rule in stats["rules"]], ["commute", "associate", "distribute", "fold"])
        self.assertEqual(len(stats["iterations"]), 4)
        for i, rule in enumerate(stats["rules"]):
            for count in ("candidates", "matches", "new_facts"):
                entries = [entry[count] for iteration in stats["iterations"] for entry in iteration["rules"]
                           if entry["id"] == rule["id"]]
                self.assertEqual(sum(entries), rule[count])

    def test_why_not_explains_each_question(self):
        output = self.egg("--why-not", "fold at f", "--why-not", "distribute at (Var \"x\")", self.FILE).stdout
        self.assertEqual(output, self.OUTPUT + """\
rule 'fold' doesn't match f
  found    (Add (Num 7) (Num 3))
  found    (Num 7)
  found    (Num 3)
  found    (+ 7 3) = 10
  failed   (< 10 10) doesn't hold
  with     x = 7
  with     y = 3
rule 'distribute' doesn't match (Var "x")
  missing  (Mul ?a (Add ?b ?c)) isn't in the class of (Var "x")
  instead  (Var "x")
""")
        result = run("egg", self.FILE, "--why-not", "fuld at f")
        self.assertEqual(result.returncode, 1)
        self.assertIn("there is no rule 'fuld'; known: 'commute', ", result.stderr)

    def test_explain_prints_the_chain_and_checks_it(self):
        question = '(Add (Var "y") (Num 3)) = (Add (Num 3) (Var "y"))'
        self.assertEqual(self.egg(self.FILE, "--explain", question).stdout, self.OUTPUT + """\
(Add (Var "y") (Num 3))
  = (Add (Num 3) (Var "y"))   by step 2, rule 'commute'
steps
  1. (Add (Var "y") (Num 3)) is there   by a command
  2. (Add (Var "y") (Num 3)) = (Add (Num 3) (Var "y"))   by rule 'commute' with a := (Var "y"), b := (Num 3), from step 1
checked: 2 steps
""")
        result = self.egg(self.FILE, "--explain", question, "--explain", "e = e", "--explain-json", "-")
        self.assertEqual([len(explanation["steps"]) for explanation in json.loads(result.stdout)], [2, 0])
        result = run("egg", self.FILE, "--explain", "e = f")
        self.assertEqual((result.returncode, result.stderr), (1, "luminal: e and f aren't equal in this e-graph\n"))

    def test_json_is_a_whole_graph_or_says_what_is_missing(self):
        graph = json.loads(self.egg(self.FILE, "--json", "-").stdout)
        self.assertNotIn("truncated", graph)
        self.assertEqual(sum(node["op"] == "Add" for node in graph["nodes"].values()), 26)
        for node in graph["nodes"].values():
            self.assertEqual(set(node), {"op", "children", "eclass", "cost", "subsumed"})
            self.assertIn(node["eclass"], graph["class_data"])
            for child in node["children"]:
                self.assertIn(child, graph["nodes"])
        part = json.loads(self.egg(self.FILE, "--json", "-", "--around", "f", "--radius", "1").stdout)
        self.assertEqual(part["root_eclasses"], [next(name for name, data in part["class_data"].items()
                                                      if data.get("let") == "f")])
        self.assertIn("raise radius", part["truncated"]["note"])
        few = json.loads(self.egg(self.FILE, "--json", "-", "--shown-nodes", "5").stdout)
        self.assertEqual(few["truncated"]["nodes_left_out"], len([n for n in graph["nodes"] if n[0] == "f"]) - 5)

    def test_dot_is_text_or_a_drawing(self):
        with tempfile.TemporaryDirectory() as folder:
            for ending, start in (("dot", "digraph"), ("svg", "<?xml")):
                output = pathlib.Path(folder) / f"a b.{ending}"
                self.assertEqual(self.egg(self.FILE, "--dot", str(output)).stdout, self.OUTPUT)
                self.assertTrue(output.read_text().startswith(start))
        self.assertIn("raise radius", self.egg(self.FILE, "--dot", "-", "--around", "e", "--radius", "1").stdout)

    def test_limits_are_outcomes_that_name_the_rule(self):
        output = self.egg("-", "--max-iterations", "3", text=self.FOREVER).stdout
        self.assertEqual(output, "stopped at the limit of iterations: 3 iterations, 1 tuples, 0 classes\n")
        output = self.egg(self.FILE, "--max-nodes", "20").stdout
        self.assertIn("stopped at the limit of nodes, look at rule '", output)

    def test_long_runs_say_how_far_they_are(self):
        result = self.egg("-", "--progress", "--max-seconds", "2.5", text=self.FOREVER)
        self.assertRegex(result.stderr, r"^2\.\d s: iteration \d+, 1 tuples, 0 classes, rule 'forever'\n$")
        self.assertEqual(self.egg("-", "--max-seconds", "0.1", text=self.FOREVER).stderr, "")

    def test_options_that_do_not_fit_are_usage_errors(self):
        for arguments in (("--around", "f"), ("--explain-json", "-"), ("--json", "-", "--dot", "-"), ("--max-seconds", "-1")):
            with self.subTest(arguments):
                result = run("egg", self.FILE, *arguments)
                self.assertEqual((result.returncode, result.stdout), (2, ""))

    def test_a_term_that_is_not_there_is_named(self):
        result = run("egg", self.FILE, "--dot", "-", "--around", '(Add f (Var "z"))')
        self.assertEqual(result.returncode, 1)
        self.assertIn("isn't in the e-graph: there is no (Var \"z\")", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
