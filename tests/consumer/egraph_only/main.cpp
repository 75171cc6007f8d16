// Two ids become one.
#include <luminal/egraph/union_find.h>

#include <iostream>

int main() {
  luminal::egraph::UnionFind ids;
  const uint32_t a = ids.make();
  const uint32_t b = ids.make();
  ids.unite(a, b);
  if (!ids.same(a, b) || ids.displaced().size() != 1) return 1;
  std::cout << "egraph works\n";
}
