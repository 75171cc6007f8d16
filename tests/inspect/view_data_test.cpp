// What `luminal view` puts on its page: all of a compile, and nothing that a browser could take for
// more than text.
#include "apps/inspect/view/view_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "apps/inspect/view/page.h"
#include "luminal/luminal.h"

namespace luminal::view {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

struct Made {
  std::string text;
  Json json;
};

Made made_of(Graph& graph, CompileOptions options, const std::string& name, int runs,
             const Bindings& sizes, const std::function<void(Executable&)>& set) {
  CompileReport report;
  std::ostringstream unread;
  options.inspect = {.print_after = "rolled", .out = &unread, .find_rivals = true};
  options.report = &report;
  options.storage.cache_folder = "none";
  options.backend.threads = 1;
  Executable executable = compile(graph, options);
  Trace trace;
  trace.roofline = {.bytes_per_second = 1e10, .flops_per_second = 1e11};
  std::vector<size_t> plans;
  std::vector<std::string> texts;
  if (runs > 0) set(executable);
  for (int i = 0; i < runs; ++i) {
    executable.run(sizes, {.trace = &trace});
    plans.push_back(0);
    texts.emplace_back("s = 3");
  }
  const std::string text = view_data({name, graph, options, report, trace, plans, texts},
                                     {.wanted = true, .most_bytes = 2000});
  return {text, Json::parse(text)};
}

void make_softmax(Graph& graph, const std::string& input) {
  const Tensor x = graph.input(input, {Expr::var("s", 1, 64), 17});
  softmax(x * 3.0f * 2.0f, -1).name("the <last> one").output("y");
}

TEST(ViewData, HoldsGraphPlanTermsAndTrace) {
  Graph graph;
  make_softmax(graph, "x");
  const Made made = made_of(graph, {}, "a graph", 2, {{"s", 3}}, [&](Executable& exe) {
    exe.set(graph.tensor(graph.leaves().front()), std::vector<float>(3 * 17, 0.5f));
  });
  EXPECT_EQ(made.json["name"], "a graph");
  EXPECT_EQ(made.json["nodes"].size(), graph.size());
  ASSERT_EQ(made.json["plans"].size(), 1u);
  const Json& plan = made.json["plans"][0];
  ASSERT_EQ(plan["kernels"].size(), 1u);
  const Json& kind = plan["kinds"][plan["kernels"][0]["kind"].get<size_t>()];
  EXPECT_THAT(kind["text"].get<std::string>(), HasSubstr("stage"));
  EXPECT_THAT(kind["low_level"].get<std::string>(), HasSubstr("define"));
  EXPECT_THAT(kind["low_level"].get<std::string>(), HasSubstr("more bytes"));
  EXPECT_LT(kind["low_level"].get<std::string>().size(), 2200u);
  EXPECT_FALSE(kind["assembly"].get<std::string>().empty());
  EXPECT_THAT(kind["rules"].dump(), HasSubstr("constant-factors-meet"));
  EXPECT_EQ(plan["kernels"][0]["nodes"].back(), "'the <last> one'");

  // Every node that something needs has its class, and each term names classes that are there.
  EXPECT_EQ(plan["class_of"].size(), graph.size());
  std::set<int> ids;
  bool by_rule = false;
  for (const Json& entry : plan["classes"]) ids.insert(entry["id"].get<int>());
  for (const Json& entry : plan["classes"]) {
    EXPECT_FALSE(entry["type"].get<std::string>().empty());
    for (const Json& term : entry["terms"]) {
      by_rule |= term.contains("rule");
      for (const Json& id : term["reads"]) EXPECT_TRUE(ids.contains(id.get<int>()));
    }
  }
  EXPECT_TRUE(by_rule);

  int kernels = 0;
  for (const Json& event : made.json["trace"]["events"]) kernels += event["kind"] == "kernel";
  EXPECT_EQ(kernels, 2);
  EXPECT_EQ(made.json["trace"]["bytes_per_second"], 1e10);
}

TEST(ViewData, LayersAreThereOnceWithTheirTrips) {
  Graph graph;
  Tensor x = graph.input("x", {4, 16});
  for (int i = 0; i < 6; ++i) {
    const nn::Scope scope(graph, "layer" + std::to_string(i));
    x = x + nn::linear(scope.child("b"), relu(nn::linear(scope.child("a"), x, 16)), 16);
  }
  x.output("y");
  CompileOptions options;
  options.plan.rolling = Rolling::Always;
  const Made made = made_of(graph, options, "layers", 0, {}, {});
  const Json& plan = made.json["plans"][0];
  EXPECT_THAT(plan["rolled"].get<std::string>(), HasSubstr("iterations of"));
  EXPECT_LT(plan["nodes"].size(), graph.size());
  EXPECT_EQ(plan["places"].size(), graph.size());
  EXPECT_EQ(plan["loops"].size(), plan["nodes"].size());
  EXPECT_EQ(plan["class_of"].size(), plan["nodes"].size());
  ASSERT_GE(plan["trips"].size(), 2u);
  bool hands_over = false;
  for (const Json& marker : plan["markers"]) {
    EXPECT_LT(marker["leaf"].get<size_t>(), plan["nodes"].size());
    hands_over |= !marker["of"].empty();
  }
  EXPECT_TRUE(hands_over);
  // Kernels of all layers, of which those alike are of one kind.
  EXPECT_LT(plan["kinds"].size(), plan["kernels"].size());
}

TEST(ViewData, WithoutRunsThereIsNoTrace) {
  Graph graph;
  make_softmax(graph, "x");
  const Made made = made_of(graph, {}, "a graph", 0, {}, {});
  EXPECT_TRUE(made.json["trace"]["events"].empty());
}

TEST(Page, NothingInTheDataEndsItsElement) {
  Graph graph;
  const std::string hostile = "</script><script>alert('&\"')</script><!--";
  make_softmax(graph, hostile);
  const Made made = made_of(graph, {}, hostile, 0, {}, {});
  EXPECT_EQ(made.json["name"], hostile);
  const std::string page = make_page(made.text);
  const size_t begin = page.find("id=\"data\">"), end = page.find("</script>", begin);
  ASSERT_NE(begin, std::string::npos);
  const std::string data = page.substr(begin + 10, end - begin - 10);
  EXPECT_THAT(data, Not(HasSubstr("<")));
  EXPECT_EQ(Json::parse(data), made.json);
  EXPECT_THAT(page, Not(HasSubstr("alert('&\"')</script>")));
}

TEST(Page, FetchesNothing) {
  const std::string page = make_page("{}");
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
  for (size_t at = page.find("//www."); at != std::string::npos; at = page.find("//www.", at + 1)) {
    EXPECT_EQ(page.substr(at, 22), "//www.w3.org/2000/svg\"");  // a name, not a place
  }
}

}  // namespace
}  // namespace luminal::view
