// Schedules and the commands that run, check, print, read and write.
#include "luminal/egraph/language/form_parser.h"

#include <utility>

namespace luminal::egraph {

// (run [ruleset] [n] [:until fact …]), as a command and in a schedule.
ScheduleSyntax FormParser::run_of(const Sexpr& form) const {
  const char* shape = "(run [ruleset] [times] [:until fact …])";
  const auto [items, options] = split(form, 1, 3, shape, {":until"});
  ScheduleSyntax run{.position = form.position};
  bool counted = false;
  uint64_t times = 1;
  for (const Sexpr& item : items.subspan(1)) {
    const bool is_number = item.is_atom() && item.text[0] >= '0' && item.text[0] <= '9';
    if (is_number && !counted) {
      times = number(item, "how often to run");
      counted = true;
    } else if (!is_number && run.ruleset.empty() && !counted) {
      run.ruleset = symbol(item, "a ruleset");
    } else {
      fail(item, std::string("expected ") + shape);
    }
  }
  if (const auto until = options.find(":until"); until != options.end()) {
    if (until->second.empty()) fail(form, "':until' needs a fact; expected " + std::string(shape));
    run.until = facts(until->second);
  }
  if (!counted) return run;
  return {.kind = ScheduleSyntax::Kind::Repeat,
          .position = form.position,
          .times = times,
          .children = {std::move(run)}};
}

ScheduleSyntax FormParser::schedule(const Sexpr& form) const {
  using Kind = ScheduleSyntax::Kind;
  if (form.is_atom()) return {.position = form.position, .ruleset = form.text};
  if (form.is_call("run")) return run_of(form);
  ScheduleSyntax result{.position = form.position};
  size_t first = 1;
  if (form.is_call("saturate")) {
    result.kind = Kind::Saturate;
  } else if (form.is_call("seq")) {
    result.kind = Kind::Sequence;
  } else if (form.is_call("repeat") && form.items.size() >= 2) {
    result.kind = Kind::Repeat;
    result.times = number(form.items[1], "how often to repeat");
    first = 2;
  } else {
    fail(form, "expected a schedule: a ruleset, (run …), (saturate …), (seq …) or (repeat n …)");
  }
  for (size_t i = first; i < form.items.size(); ++i) {
    result.children.push_back(schedule(form.items[i]));
  }
  return result;
}

void FormParser::run(const Sexpr& form) { add(form, RunCommand{run_of(form)}); }

void FormParser::run_schedule(const Sexpr& form) {
  ScheduleSyntax all{.kind = ScheduleSyntax::Kind::Sequence, .position = form.position};
  for (size_t i = 1; i < form.items.size(); ++i) all.children.push_back(schedule(form.items[i]));
  add(form, RunCommand{std::move(all)});
}

void FormParser::check(const Sexpr& form) {
  if (form.items.size() < 2) fail(form, "expected (check fact …)");
  add(form, CheckCommand{facts(Items(form.items).subspan(1))});
}

void FormParser::extract(const Sexpr& form) {
  expect_items(form, 2, 3, "(extract value [variants])");
  ExtractCommand command{.expr = expr(form.items[1])};
  if (form.items.size() == 3) command.variants = expr(form.items[2]);
  add(form, std::move(command));
}

void FormParser::print_size(const Sexpr& form) {
  expect_items(form, 1, 2, "(print-size [function])");
  add(form, PrintSizeCommand{form.items.size() == 2 ? symbol(form.items[1], "a function") : ""});
}

void FormParser::print_function(const Sexpr& form) {
  const char* shape = "(print-function function [rows] [:file \"path\"] [:mode default|csv])";
  const auto [items, options] = split(form, 2, 3, shape, {":file", ":mode"});
  PrintFunctionCommand command{.function = name(items[1], "a function")};
  if (items.size() == 3) command.rows = number(items[2], "how many rows to print");
  if (const Sexpr* file = option(form, options, ":file")) command.file = string(*file, "a path");
  if (const Sexpr* mode = option(form, options, ":mode")) {
    command.as_csv = mode->is_atom("csv");
    if (!command.as_csv && !mode->is_atom("default")) {
      fail(*mode, "':mode' is default or csv, found " + print(*mode));
    }
  }
  add(form, std::move(command));
}

void FormParser::print_stats(const Sexpr& form) {
  const auto [items, options] = split(form, 1, 1, "(print-stats [:file \"path\"])", {":file"});
  PrintStatsCommand command;
  if (const Sexpr* file = option(form, options, ":file")) command.file = string(*file, "a path");
  add(form, std::move(command));
}

void FormParser::push(const Sexpr& form) {
  expect_items(form, 1, 2, "(push [times])");
  add(form, PushCommand{form.items.size() == 2 ? number(form.items[1], "how often to push") : 1});
}

void FormParser::pop(const Sexpr& form) {
  expect_items(form, 1, 2, "(pop [times])");
  add(form, PopCommand{form.items.size() == 2 ? number(form.items[1], "how often to pop") : 1});
}

void FormParser::include(const Sexpr& form) {
  expect_items(form, 2, 2, "(include \"path\")");
  add(form, IncludeCommand{string(form.items[1], "a path")});
}

void FormParser::input(const Sexpr& form) {
  expect_items(form, 3, 3, "(input function \"path\")");
  add(form, InputCommand{.function = name(form.items[1], "a function"),
                         .file = string(form.items[2], "a path")});
}

void FormParser::output(const Sexpr& form) {
  if (form.items.size() < 3) fail(form, "expected (output \"path\" value …)");
  OutputCommand command{.file = string(form.items[1], "a path"), .exprs = {}};
  for (size_t i = 2; i < form.items.size(); ++i) command.exprs.push_back(expr(form.items[i]));
  add(form, std::move(command));
}

void FormParser::fail_command(const Sexpr& form) {
  expect_items(form, 2, 2, "(fail (command …))");
  FormParser inner(source_);
  inner.parse(form.items[1]);
  add(form, FailCommand{inner.take()});
}

}  // namespace luminal::egraph
