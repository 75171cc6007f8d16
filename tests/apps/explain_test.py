"""`luminal explain`: why a plan is as it is. Usage: explain_test.py PROGRAM SOURCE_DIR MODELS"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
MODELS = pathlib.Path(os.environ.get("LUMINAL_TEST_MODELS", sys.argv[3]))
FEED_FORWARD = str(SOURCE / "examples/feed_forward.lum")

# Sums down the columns scale the rows: inside, each row would compute all sums again.
SCALED_BY_SUMS = """luminal-graph 1
%0 = input "x" : f32[2048, 2048]
%1 = exp2 %0 : f32[2048, 2048]
%2 = view %1 [i1, i0] : f32[2048, 2048]
%3 = reduce sum %2 : f32[2048]
%4 = view %3 [i1] : f32[2048, 2048]
%5 = mul %0 %4 : f32[2048, 2048]
output "y" %5
"""

# (A·B)·v: A·(B·v) multiplies a hundredth as often.
MATRIX_CHAIN = """luminal-graph 1
%0 = input "a" : f32[128, 128]
%1 = input "b" : f32[128, 128]
%2 = input "v" : f32[128]
%3 = view %0 [i0, i2] : f32[128, 128, 128]
%4 = view %1 [i2, i1] : f32[128, 128, 128]
%5 = mul %3 %4 : f32[128, 128, 128]
%6 = reduce sum %5 : f32[128, 128]
%7 = view %2 [i1] : f32[128, 128]
%8 = mul %6 %7 : f32[128, 128]
%9 = reduce sum %8 : f32[128]
output "y" %9
"""


def run(*arguments, text=""):
    return subprocess.run([PROGRAM, *arguments], input=text, capture_output=True, text=True)


def explain(*arguments, text=""):
    result = run("explain", *arguments, "--cache", "none", text=text)
    assert result.returncode == 0, result.stderr
    return result.stdout


def explain_json(*arguments, text=""):
    return json.loads(explain(*arguments, "--json", text=text))


class Kernels(unittest.TestCase):
    def test_a_small_graph_reads_as_a_page(self):
        machine = str(SOURCE / "tests/apps/machine.json")
        output = explain("-", "--target", "sse2", "--machine", machine, text="""luminal-graph 1
%0 = input "x" : f32[512, 1024]
%1 = exp2 %0 : f32[512, 1024]
%2 = sqrt %1 : f32[512, 1024]
output "y" %2
""")
        self.assertEqual(re.sub(r"(for|by) sse2[^\n]*", r"\1 sse2", output), GOLDEN)

    def test_each_kernel_has_ten_lines_at_most_and_names_its_sources(self):
        pages = [explain(FEED_FORWARD), explain("-", text=SCALED_BY_SUMS)]
        self.assertRegex(pages[0], r"\nthe plan: \d+ kernels?, [\d.]+ µs by the model at s = 128\n")
        kernels = [kernel for page in pages for kernel in page.split("\n\n")[1:]]
        self.assertGreaterEqual(len(kernels), 3)
        for kernel in kernels:
            with self.subTest(kernel):
                self.assertRegex(kernel, r"^kernel \d+.*\n  takes     [\d.]+ µs by the model, \d+ % of the plan\n")
                for label in ("computes", "of", "roofline"):
                    self.assertRegex(kernel, rf"(?m)^  {label} ")
                self.assertLessEqual(len(kernel.splitlines()), 13)
                for line in kernel.splitlines():
                    self.assertLessEqual(len(line), 100)

    def test_json_has_what_the_documentation_lists(self):
        found = explain_json(FEED_FORWARD)
        self.assertEqual(set(found), {"name", "target", "machine", "plans", "notes"})
        plan = found["plans"][0]
        self.assertEqual(set(plan), {"variant", "sizes", "origin", "us", "model_us", "n_kernels", "n_measured", "n_packing",
                                     "kernels"})
        documented = (SOURCE / "docs/debugging.md").read_text()
        for kernel in plan["kernels"]:
            for field in kernel:
                self.assertIn(f"`{field}`", documented)
            self.assertEqual(kernel["bound_us"], max(kernel["bytes_us"], kernel["flops_us"]) + kernel["launch_us"])
            self.assertAlmostEqual(kernel["roofline_share"], kernel["bound_us"] / kernel["us"], 9)
            self.assertIn(kernel["bound_by"], ("memory", "arithmetic", "the launch"))
        self.assertAlmostEqual(sum(kernel["share"] for kernel in plan["kernels"]), 1, 6)
        self.assertAlmostEqual(plan["us"], plan["model_us"], 6)
        nodes = [node for kernel in plan["kernels"] for node in kernel["nodes"]]
        self.assertIn("%34 (exp2)", nodes)

    def test_what_was_beaten_is_more_expensive_and_the_nearest_comes_first(self):
        kernels = explain_json("-", text=SCALED_BY_SUMS)["plans"][0]["kernels"]
        self.assertEqual(len(kernels), 2)
        moves = {(rival["move"], rival["value"]): rival for kernel in kernels for rival in kernel["beat"]}
        absorbed, stored = moves["absorb", "%3 (reduce)"], moves["store", "%1 (exp2)"]
        self.assertEqual(absorbed["readers"], ["kernel 1"])
        for rival in (absorbed, stored):
            self.assertGreater(rival["extra_us"], 0)
            self.assertEqual(rival["source"], "by the model")
        for kernel in kernels:
            times = [rival["extra_us"] for rival in kernel["beat"] if not rival["why"]]
            self.assertEqual(times, sorted(times))
        output = explain("-", text=SCALED_BY_SUMS)
        self.assertRegex(output, r"%1 \(exp2\) stored: \+[\d.]+ µs by the model")
        self.assertRegex(output.replace("\n            ", " "), r"%3 \(reduce\) computed by kernel 1: \+[\d.]+ µs")

    def test_other_terms_are_named_with_what_they_would_cost(self):
        chain = ("-", "--numerics", "finite")
        kernels = explain_json(*chain, text=MATRIX_CHAIN)["plans"][0]["kernels"]
        terms = [rival for kernel in kernels for rival in kernel["beat"] if rival["move"] == "term"]
        self.assertEqual([rival["value"] for rival in terms], ["%9 (reduce)"])
        self.assertGreater(terms[0]["extra_us"], 0)
        self.assertEqual(terms[0]["other"], "reduce sum(%8 (mul))")
        self.assertRegex(terms[0]["taken"], r"^reduce sum\(mul\(.*reduce sum\(mul\(")
        lines = re.sub(r"\n {12}", " ", explain(*chain, text=MATRIX_CHAIN))
        self.assertRegex(lines, r"(?m)^  terms     %9 \(reduce\) by reduce sum\(%8 \(mul\)\) instead of .*: \+[\d.]+ µs")
        self.assertNotIn("\n  terms", explain("-", text=MATRIX_CHAIN))

    def test_rules_and_slow_paths_are_named(self):
        output = explain("-", text="""luminal-graph 1
%0 = input "table" : f32[1000, 64]
%1 = input "at" : i64[64, 64]
%2 = view %0 [i0, 0] : f32[1000]
%3 = gather %2 %1 : f32[64, 64]
%4 = view %3 [i1, i0] : f32[64, 64]
%5 = view %4 [i1, i0] : f32[64, 64]
%6 = exp2 %5 : f32[64, 64]
output "y" %6
""")
        self.assertRegex(output, r"(?m)^  slow +stage s0 reads")
        self.assertRegex(output, r"(?m)^  rules +")

    def test_one_kernel_comes_with_its_loops(self):
        output = explain("-", "--kernel", "1", text=SCALED_BY_SUMS)
        self.assertEqual(len(re.findall(r"(?m)^kernel \d+,", output)), 1)
        self.assertIn("\nkernel 1, mul → y\n", output)
        self.assertIn("\n\nkernel\n", output)
        kernels = explain_json("-", "--kernel", "1", text=SCALED_BY_SUMS)["plans"][0]["kernels"]
        self.assertEqual([kernel["name"] for kernel in kernels], ["kernel 1"])

    def test_a_measured_time_takes_the_place_of_the_model(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/report.json"
            self.assertEqual(run("compile", "-", "--cache", "none", "--report-json", path, text=SCALED_BY_SUMS).returncode, 0)
            report = json.loads(pathlib.Path(path).read_text())
            report["kernels"][0].update(measured_us=1000, measured_low_us=990, measured_high_us=1020)
            pathlib.Path(path).write_text(json.dumps(report))
            output = explain(path)
            self.assertIn("kernel 0, sum\n  takes     1000.0 µs measured (990.0 … 1020.0), ", output)
            self.assertIn("1 of them measured, the others by the model", output)
            self.assertRegex(output, r"kernel 1, .*\n  takes     [\d.]+ µs by the model")
            kernel = explain_json(path)["plans"][0]["kernels"][0]
            self.assertEqual((kernel["us"], kernel["source"]), (1000, "measured"))
            self.assertAlmostEqual(kernel["roofline_share"], kernel["bound_us"] / 1000, 9)
            self.assertEqual(explain_json(path)["machine"], report["machine"])

    def test_equal_kernels_are_explained_once(self):
        text = "luminal-graph 1\n"
        for i in range(3):
            text += f'%{2 * i} = input "x{i}" : f32[512, 512]\n%{2 * i + 1} = exp2 %{2 * i} : f32[512, 512]\n'
        text += "".join(f'output "y{i}" %{2 * i + 1}\n' for i in range(3))
        plan = explain_json("-", text=text)["plans"][0]
        self.assertEqual([(kernel["name"], kernel["alike"], kernel["share"]) for kernel in plan["kernels"]],
                         [("kernel 0", ["kernel 1", "kernel 2"], 1)])
        self.assertRegex(explain("-", text=text),
                         r"kernel 0 and 2 alike, y\*\n  takes     [\d.]+ µs by the model each, 100 % of the plan")
        second = explain_json("-", "--kernel", "1", text=text)["plans"][0]["kernels"][0]
        self.assertEqual((second["nodes"], second["alike"]), (["%3 (exp2)"], ["kernel 0", "kernel 2"]))

    def test_each_variant_has_its_plan(self):
        plans = explain_json(FEED_FORWARD, "--variants", "s=1")["plans"]
        self.assertEqual([plan["variant"] for plan in plans], ["s = 1", "s = 2 … 4096"])
        self.assertIn("the plan for s = 1: ", explain(FEED_FORWARD, "--variants", "s=1"))

    def test_the_cache_keeps_explanations(self):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
            first, kept, anew = (run("explain", FEED_FORWARD, "--cache", where).stdout for where in (folder, folder, other))
            self.assertEqual(first, kept)
            self.assertEqual(first, anew)

    def test_wrong_questions_tell_the_way_out(self):
        for arguments, code, message in (
                ((), 2, "name a graph, a model or a report"),
                ((FEED_FORWARD, "--kernel", "99"), 1, "has no kernel 99: kernel 0 is the only one"),
                ((FEED_FORWARD, "--variants", "s=1", "--kernel", "99"), 1, "has no kernel 99: they are numbered from 0 to "),
                ((FEED_FORWARD, "--backend", "interp"), 1, "compile it with the backend 'cpu'"),
                ((FEED_FORWARD, "--kernel", "0", "--why-not", "%1", "%2"), 2, "can't be combined"),
                ((FEED_FORWARD, "--diff", "a", "b"), 2, "is one too many"),
                ((FEED_FORWARD, "--versus", "always"), 2, "isn't OPTION=VALUE; write it like --versus fusion=always"),
                ((FEED_FORWARD, "--versus", "fusion=sometimes"), 2, "sometimes"),
                ((FEED_FORWARD, "--versus", "fusoin=always"), 2, "it takes the options of `luminal compile`"),
                ((FEED_FORWARD, "--why-not", "%16"), 1, "name a second one"),
                ((FEED_FORWARD, "--why-not", "fuse", "%16"), 1, "'fuse' is neither a rule (`luminal rules list`) nor a tensor"),
                ((FEED_FORWARD, "--why-not", "%16", "%99"), 1, "there is no tensor '%99'; known: 'x'")):
            with self.subTest(arguments):
                result = run("explain", *arguments, "--cache", "none")
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertIn(message, result.stderr)

    def test_help_has_examples(self):
        self.assertIn("luminal explain GRAPH --why-not %16 %43", run("explain", "--help").stdout)


class Diff(unittest.TestCase):
    def test_two_policies(self):
        found = explain_json(FEED_FORWARD, "--versus", "fusion=never")
        self.assertTrue(found["same_graph"])
        plan = found["plans"][0]
        self.assertGreater(plan["b"]["n_kernels"], plan["a"]["n_kernels"])
        self.assertGreater(plan["b"]["us"], plan["a"]["us"])
        self.assertGreater(len(plan["stored_in_b"]), len(plan["stored_in_a"]))
        self.assertEqual({value["because"] for value in plan["stored_in_b"]}, {"the policy is to fuse nothing"})
        changes = [abs(region["difference_us"]) for region in plan["regions"]]
        self.assertEqual(changes, sorted(changes, reverse=True))
        total = sum(region["difference_us"] for region in plan["regions"])
        self.assertAlmostEqual(total, plan["b"]["us"] - plan["a"]["us"], 6)
        for region in plan["regions"]:
            self.assertTrue(region["a"] and region["b"], region)  # both compute the same nodes
        output = explain(FEED_FORWARD, "--versus", "fusion=never")
        self.assertRegex(output, r"(?m)^  a +.*feed_forward.lum: \d+ kernels?, [\d.]+ µs by the model$")
        self.assertRegex(output, r"(?m)^  b − a +\+[\d.]+ µs \(\+[\d.]+ %\)$")
        self.assertIn("stored only in b\n", output)

    def test_the_same_twice_differs_in_nothing(self):
        plan = explain_json("--diff", FEED_FORWARD, FEED_FORWARD)["plans"][0]
        self.assertEqual((plan["n_same"], plan["regions"], plan["stored_in_a"], plan["stored_in_b"]),
                         (plan["a"]["n_kernels"], [], [], []))

    def test_reports_compare_as_their_graphs_do(self):
        with tempfile.TemporaryDirectory() as folder:
            for policy in ("modelled", "always"):
                result = run("compile", "-", "--cache", "none", "--fusion", policy, "--report-json", f"{folder}/{policy}.json",
                             text=SCALED_BY_SUMS)
                self.assertEqual(result.returncode, 0, result.stderr)
            graph = folder + "/graph.txt"
            pathlib.Path(graph).write_text(SCALED_BY_SUMS)
            by_report = explain_json("--diff", folder + "/modelled.json", folder + "/always.json")["plans"]
            by_option = explain_json(graph, "--versus", "fusion=always")["plans"]
            self.assertEqual(by_report, by_option)
            self.assertEqual([value["value"] for value in by_report[0]["stored_in_a"]], ["%3 (reduce)"])
            for text, message in (("{", "is not a report of this version"), ('{"kernels": []}', "is not a report of this version")):
                pathlib.Path(folder + "/broken.json").write_text(text)
                result = run("explain", "--diff", folder + "/broken.json", folder + "/always.json")
                self.assertEqual(result.returncode, 1)
                self.assertIn(message, result.stderr)
            result = run("explain", folder + "/always.json", "--versus", "fusion=never")
            self.assertEqual(result.returncode, 1)
            self.assertIn("--versus compiles a graph or model again", result.stderr)

    def test_other_graphs_are_compared_by_their_kernels_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            other = folder + "/other.txt"
            pathlib.Path(other).write_text(SCALED_BY_SUMS.replace("2048", "1024"))
            found = explain_json("--diff", FEED_FORWARD, other)
            self.assertFalse(found["same_graph"])
            for region in found["plans"][0]["regions"]:
                self.assertNotEqual(bool(region["a"]), bool(region["b"]))


class WhyNot(unittest.TestCase):
    def ask(self, first, second, *arguments, text):
        answers = explain_json("-", *arguments, "--why-not", first, second, text=text)["why_not"]
        self.assertEqual(len(answers), 1)
        return answers[0]["answer"]

    def test_two_values_of_one_kernel(self):
        answer = self.ask("%1", "%3", text=SCALED_BY_SUMS)
        self.assertEqual((answer["outcome"], answer["because"]), ("together", "kernel 0 computes both"))

    def test_more_expensive_inside_says_by_how_much(self):
        for pair in (("%3", "%5"), ("%5", "%3")):
            answer = self.ask(*pair, text=SCALED_BY_SUMS)
            self.assertEqual(answer["outcome"], "apart")
            self.assertEqual(answer["reasons"], ["the cost model says that fusing it into its readers is more expensive"])
            self.assertRegex(answer["because"][0], r"^%3 \(reduce\), stored by kernel 0 and read by kernel 1: the cost model says "
                                                   r"that fusing it into its readers is more expensive \(\+[\d.]+ µs\)$")
            self.assertRegex(answer["all_inside"], r"^[+-][\d.]+ µs by the model$")

    def test_the_policy(self):
        answer = self.ask("%1", "%5", "--fusion", "never", text=SCALED_BY_SUMS)
        self.assertEqual(set(answer["reasons"]), {"the policy is to fuse nothing"})
        self.assertNotIn("all_inside", answer)

    def reason(self, first, second, lines, expected):
        answer = self.ask(first, second, text="luminal-graph 1\n" + lines)
        self.assertEqual(answer.get("reasons"), [expected], answer)

    def test_a_result(self):
        answer = self.ask("%3", "%5", text=SCALED_BY_SUMS + 'output "sums" %3\n')
        self.assertEqual(answer["reasons"], ["it is a result"])
        self.assertNotIn("all_inside", answer)

    def test_a_gather_and_a_scatter(self):
        self.reason("%1", "%3", """%0 = input "x" : f32[10, 4]
%1 = exp2 %0 : f32[10, 4]
%2 = input "rows" : i64[3]
%3 = gather %1 %2 : f32[3, 4]
output "y" %3
""", "a gather reads it at an index that another value computes")
        self.reason("%3", "%5", """%0 = input "x" : f32[10, 4]
%1 = input "rows" : i64[3]
%2 = input "values" : f32[3, 4]
%3 = scatter set %0 %1 %2 : f32[10, 4]
%4 = view %3 [i1, i0] : f32[4, 10]
%5 = reduce sum %4 : f32[4]
output "y" %5
""", "a scatter writes it row by row")

    def test_leaves_and_what_nothing_needs(self):
        answer = self.ask("x", "%5", text=SCALED_BY_SUMS)
        self.assertEqual(answer["outcome"], "in-memory")
        unneeded = SCALED_BY_SUMS.replace("output", "%6 = sqrt %0 : f32[2048, 2048]\noutput")
        answer = self.ask("%6", "%5", text=unneeded)
        self.assertEqual((answer["outcome"], answer["because"]), ("not-computed", "%6 (sqrt) isn't needed by any output"))

    def test_independent_values(self):
        answer = self.ask("%2", "%3", text="""luminal-graph 1
%0 = input "x" : f32[512, 512]
%1 = input "z" : f32[64]
%2 = exp2 %0 : f32[512, 512]
%3 = sqrt %1 : f32[64]
output "a" %2
output "b" %3
""")
        self.assertEqual(answer["outcome"], "independent")

    def test_a_rule_at_a_tensor_and_anywhere(self):
        answer = self.ask("views-compose", "%34", text=pathlib.Path(FEED_FORWARD).read_text())
        self.assertEqual((answer["rule"], answer["at"]), ("views-compose", "%34 (exp2)"))
        self.assertIn(answer["outcome"], ("missing-fact", "nothing-fits"))
        anywhere = explain_json(FEED_FORWARD, "--why-not", "views-compose")["why_not"][0]["answer"]
        self.assertEqual(anywhere["rule"], "views-compose")

    def test_each_plan_answers(self):
        answers = explain_json(FEED_FORWARD, "--variants", "s=1", "--why-not", "%16", "%45")["why_not"]
        self.assertEqual([answer["variant"] for answer in answers], ["s = 1", "s = 2 … 4096"])
        self.assertIn("the plan for s = 1\nwhy_not: %16 (mul) and %45 (add) in one kernel\n",
                      explain(FEED_FORWARD, "--variants", "s=1", "--why-not", "%16", "%45"))


class Models(unittest.TestCase):
    STORIES = str(MODELS / "stories260k")

    def test_a_model_has_a_plan_for_tokens_and_one_for_prompts(self):
        plans = explain_json(self.STORIES)["plans"]
        self.assertEqual([plan["variant"] for plan in plans], ["s = 1", "s = 2 … 256"])
        for plan in plans:
            self.assertGreater(plan["us"], 0)
            self.assertLess(len(plan["kernels"]), plan["n_kernels"])  # layers are alike
        answers = explain_json(self.STORIES, "--why-not", "views-compose")["why_not"]
        self.assertEqual(len(answers), 2)


GOLDEN = """<stdin>, for sse2
  peaks     given by machine.json: on 2 threads reads 40.0 and copies 36.0 GB/s, computes 100 GF/s
            element-wise; products: f32 200, bf16 200, int8 400 GF/s; launch 0.5 µs, barrier 1.5 µs
the plan: 1 kernel, 119.5 µs by the model

kernel 0, y
  takes     119.5 µs by the model, 100 % of the plan
  computes  f32[512, 1024]: exp2, sqrt
  of        %1 (exp2), %2 (sqrt)
  roofline  89 %, bound by memory: 104.9 µs for 4.19 MB, 62.9 for 6.29 MF, 2.0 for the launch
  beat      %1 (exp2) stored: +119.5 µs by the model
"""

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
