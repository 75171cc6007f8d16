// Random term graphs whose classes have several terms: for tests of the search over cuts and terms.
// The terms of a class only have its type; nothing compares what they compute.
#pragma once

#include <random>

#include "luminal/search/cuts/find_plan.h"

namespace luminal::search {

struct RandomTerms {
  kernel::TermGraph graph;
  PlanRequest request;
};

class RandomTermGraph {
 public:
  explicit RandomTermGraph(uint64_t seed) : random_(seed), side_(pick(2) == 0 ? 64 : 192) {}

  RandomTerms make(int n_values, int n_choices) {
    for (int i = 0; i < 2; ++i) {
      const auto source = graph_.sources.next();
      graph_.sources.push_back({square(), DType::F32, i == 0 ? "x" : "y", false});
      squares_.push_back(add(square(), kernel::LoadTerm{source}));
    }
    for (int i = 0; i < n_values; ++i) add_value();
    for (int i = 0; i < n_choices; ++i) add_choice();
    RandomTerms result{std::move(graph_), {}};
    result.request.stored = {squares_.back()};
    if (pick(2) == 0 && !rows_.empty()) result.request.stored.push_back(rows_.back());
    return result;
  }

 private:
  using Id = kernel::ClassId;

  uint64_t pick(uint64_t n) { return random_() % n; }
  Dims square() const { return {side_, side_}; }
  Dims row() const { return {side_}; }

  Id add(Dims dims, kernel::Term term) {
    const Id id{static_cast<uint32_t>(graph_.classes.size())};
    graph_.classes.push_back({std::move(dims), DType::F32, {std::move(term)}});
    return id;
  }

  Id any(const std::vector<Id>& from) {
    // Mostly what was made last, so that little is made in vain.
    return from[from.size() - 1 - pick(std::min<size_t>(from.size(), pick(3) == 0 ? 99 : 2))];
  }

  kernel::Term op(const std::vector<Id>& from) {
    constexpr Op kUnary[] = {Op::Exp2, Op::Sqrt, Op::Recip};
    if (pick(2) == 0) return kernel::OpTerm{kUnary[pick(3)], {any(from)}};
    return kernel::OpTerm{pick(2) == 0 ? Op::Add : Op::Mul, {any(from), any(from)}};
  }

  // The product of two matrices, up to its sum.
  kernel::Term product() {
    const Dims cube = {side_, side_, side_};
    const Expr i = Expr::index(0, side_), j = Expr::index(1, side_), k = Expr::index(2, side_);
    const Id left = add(cube, kernel::ReindexTerm{IndexMap(cube, square(), {i, k}), any(squares_)});
    const Id right =
        add(cube, kernel::ReindexTerm{IndexMap(cube, square(), {k, j}), any(squares_)});
    const Id factors = add(cube, kernel::OpTerm{Op::Mul, {left, right}});
    return kernel::ReduceTerm{Reducer::Sum, factors};
  }

  kernel::Term square_term() {
    switch (pick(6)) {
      case 0:
        if (!rows_.empty()) {
          const IndexMap map(square(), row(), {Expr::index(0, side_)});
          return kernel::OpTerm{
              Op::Mul, {any(squares_), add(square(), kernel::ReindexTerm{map, any(rows_)})}};
        }
        return op(squares_);
      case 1:
        return product();
      default:
        return op(squares_);
    }
  }

  kernel::Term row_term() {
    if (rows_.empty() || pick(2) == 0) return kernel::ReduceTerm{Reducer::Sum, any(squares_)};
    return op(rows_);
  }

  void add_value() {
    if (pick(3) == 0) {
      kernel::Term term = row_term();
      rows_.push_back(add(row(), std::move(term)));
    } else {
      kernel::Term term = square_term();
      squares_.push_back(add(square(), std::move(term)));
    }
  }

  // Another term for a value. It may read any other, so that choices can close cycles.
  void add_choice() {
    const bool of_row = !rows_.empty() && pick(3) == 0;
    const std::vector<Id>& values = of_row ? rows_ : squares_;
    const Id id = values[pick(values.size())];
    if (std::holds_alternative<kernel::LoadTerm>(graph_.at(id).terms[0])) return;
    kernel::Term term = of_row ? row_term() : square_term();
    for (Id read : kernel::operands(term)) {
      if (read == id) return;
    }
    graph_.classes[id.index()].terms.push_back(std::move(term));
  }

  std::mt19937_64 random_;
  int64_t side_;
  kernel::TermGraph graph_;
  std::vector<Id> squares_, rows_;
};

}  // namespace luminal::search
