// Rules that look right and are wrong: the tester must catch each.
#pragma once

namespace luminal::rule_testing {

struct PlantedRule {
  const char* name;
  const char* what;           // why it is wrong
  const char* numeric_class;  // that it claims
  const char* form;           // NAME and RULESET are filled in
};

inline constexpr PlantedRule kPlantedRules[] = {
    {"add-positive-zero", "-0 + 0 is 0", "exact",
     "(rewrite (Add x y) x :when ((= c (constant y)) (is-zero c))"},
    {"float-times-zero", "NaN, infinities and negative numbers times 0 aren't 0", "exact",
     "(rewrite (Mul x y) y :when ((= c (constant y)) (is-zero c))"},
    {"float-times-zero-reassociating", "a NaN must stay one", "reassociating",
     "(rewrite (Mul x y) y :when ((= c (constant y)) (is-zero c))"},
    {"recip-twice", "the reciprocal rounds", "exact", "(rewrite (Recip (Recip x)) x"},
    {"exp2-of-log2", "the logarithm rounds, and negative numbers have none", "exact",
     "(rewrite (Exp2 (Log2 x)) x"},
    {"exp2-of-log2-reassociating", "negative numbers have no logarithm", "reassociating",
     "(rewrite (Exp2 (Log2 x)) x"},
    {"log2-of-exp2", "large numbers overflow", "exact", "(rewrite (Log2 (Exp2 x)) x"},
    {"sqrt-of-square", "the root of a square has no sign", "finite", "(rewrite (Sqrt (Mul x x)) x"},
    {"views-compose-backwards", "the outer map comes first", "exact",
     "(rewrite (Reindex m (Reindex n v)) (Reindex (compose n m) v)"},
    {"inner-view-alone", "the outer map is lost", "exact",
     "(rewrite (Reindex m (Reindex n v)) (Reindex n v)"},
    {"any-view-vanishes", "not every map is the identity", "exact", "(rewrite (Reindex m v) v"},
    {"view-of-iota-unmoved", "the index must go through the map", "exact",
     "(rewrite (Reindex m (Iota e t)) (Iota e (type-through m t))"},
    {"sum-of-one", "the sum of -0 starts from 0", "exact",
     "(rewrite (Reduce \"sum\" n x) (Reindex m x) :when ((= t (type-of x)) (= m (squeeze-last "
     "t)))"},
    {"reduce-is-its-operand", "the dims differ", "exact", "(rewrite (Reduce r n x) x"},
    {"max-is-sum", "they are different reductions", "reassociating",
     "(rewrite (Reduce \"max\" n x) (Reduce \"sum\" n x)"},
    {"max-of-empty-constant", "a maximum over nothing is the lowest value", "exact",
     "(rule ((= v (Reduce \"max\" n x)) (= c (constant x))) ((set (constant v) c))"},
    {"sum-of-constant", "a sum of n equal numbers is n times one", "finite",
     "(rule ((= v (Reduce \"sum\" n x)) (= c (constant x))) ((set (constant v) c))"},
    {"select-swapped", "true chooses the first", "exact",
     "(rewrite (Select p x y) y :when ((= c (constant p)) (is-true c))"},
    {"select-ignores-predicate", "the second side may be chosen", "exact",
     "(rewrite (Select p x y) x"},
    {"casts-always-compose", "the first cast may lose", "exact",
     "(rewrite (Cast s (Cast r x)) (Cast s x)"},
    {"cast-there-and-back", "f16 overflows where f32 doesn't", "exact",
     "(rewrite (Cast s (Cast r x)) x :when ((= t (type-of x)) (= s (dtype-of t)))"},
    {"bitcast-is-cast", "bits aren't values", "exact", "(rewrite (Bitcast s x) (Cast s x)"},
    {"less-than-swapped", "a < b isn't b < a", "exact", "(rewrite (LessThan x y) (LessThan y x)"},
    {"not-less-is-greater", "equal numbers are neither", "exact",
     "(rewrite (Select (LessThan x y) p q) (Select (LessThan y x) q p)"},
    {"equal-to-itself", "NaN isn't", "exact",
     "(rule ((= v (Equal x x))) ((set (constant v) (truth true)))"},
    {"mod-swapped", "the rest of a by b isn't that of b by a", "exact",
     "(rewrite (Mod x y) (Mod y x)"},
    {"mod-of-mod-sign", "the rest has the sign of the dividend", "exact",
     "(rewrite (Mod (Mul x y) z) (Mul (Mod x z) y)"},
    {"int-div-of-int-div", "the product of the divisors may wrap", "exact",
     "(rewrite (IntDiv (IntDiv x y) z) (IntDiv x (Mul y z))"},
    {"div-then-mul", "the quotient is rounded", "exact", "(rewrite (Mul y (IntDiv x y)) x"},
    {"add-associates", "floats round after each sum", "exact",
     "(rewrite (Add (Add x y) z) (Add x (Add y z))"},
    {"mul-distributes", "floats round after each product", "exact",
     "(rewrite (Mul x (Add y z)) (Add (Mul x y) (Mul x z))"},
    {"fold-add-as-product", "a sum isn't a product", "exact",
     "(rule ((= v (Add x y)) (= c (constant x)) (= d (constant y)) (= e (fold-two \"mul\" c d))) "
     "((set (constant v) e))"},
    {"fold-less-than-swapped", "the operands are in the wrong order", "exact",
     "(rule ((= v (LessThan x y)) (= c (constant x)) (= d (constant y)) (= e (fold-two "
     "\"less_than\" d "
     "c))) ((set (constant v) e))"},
    {"gather-of-view", "the view moves the rows", "exact",
     "(rewrite (Gather (Reindex m x) i) (Gather x i)"},
    {"scan-is-its-operand", "it takes in what comes before", "exact", "(rewrite (Scan r n x) x"},
    {"scan-sum-of-one", "the sum of -0 starts from 0", "exact",
     "(rewrite (Scan \"sum\" n x) x :when ((= t (type-of x)) (ends-in-one t))"},
    {"scan-sum-of-constant", "element k is k + 1 times it", "finite",
     "(rule ((= v (Scan \"sum\" n x)) (= c (constant x))) ((set (constant v) c))"},
    {"scan-through-a-view", "a view may turn the dim around", "exact",
     "(rewrite (Scan r n (Reindex m x)) (Reindex m (Scan r n x))"},
    {"store-at-is-dest", "rows are replaced", "exact", "(rewrite (StoreAt s x i y) x"},
    {"store-at-replace-adds", "what was there goes", "reassociating",
     "(rewrite (StoreAt \"replace\" x i y) (StoreAt \"sum\" x i y)"},
    {"store-at-twice", "rows that only the first has are lost", "exact",
     "(rewrite (StoreAt \"replace\" (StoreAt \"replace\" x i y) j z) (StoreAt \"replace\" x j z)"},
    {"store-at-of-constant", "rows that aren't named stay", "exact",
     "(rule ((= v (StoreAt \"replace\" x i y)) (= c (constant y))) ((set (constant v) c))"},
    {"add-is-mul", "that is no matter of precision", "approximate", "(rewrite (Add x y) (Mul x y)"},
    {"type-without-map", "a view has the dims of its map", "exact",
     "(rule ((= v (Reindex m x)) (= t (type-of x))) ((set (type-of v) t))"},
};

// Sums that change places, or give up what they mustn't.
inline constexpr PlantedRule kPlantedSumRules[] = {
    {"sum-of-product", "a sum of products is no product of sums", "finite",
     "(rewrite (Reduce \"sum\" n (Mul x y)) (Mul (Reduce \"sum\" n x) (Reduce \"sum\" n y))"},
    {"factor-leaves-sum-exactly", "the products round", "exact",
     "(rewrite (Reduce \"sum\" n (Mul x (Reindex m y))) (Mul (Reduce \"sum\" n x) (Reindex "
     "l y)) :when ((= l (leaves-sum m)))"},
    {"factor-leaves-sum-with-infinities", "inf · 2 + inf · -1 isn't inf · 1", "reassociating",
     "(rewrite (Reduce \"sum\" n (Mul x (Reindex m y))) (Mul (Reduce \"sum\" n x) (Reindex "
     "l y)) :when ((= l (leaves-sum m)))"},
    {"sums-exchange-with-infinities", "0 · inf is NaN in one order only", "reassociating",
     "(rewrite (Reduce \"sum\" n (Mul (Reindex m (Reduce \"sum\" k (Mul (Reindex ma a) "
     "(Reindex mb b)))) (Reindex my y))) (Reduce \"sum\" k (Mul (Reindex na a) (Reindex "
     "ni (Reduce \"sum\" n (Mul (Reindex nb b) (Reindex ny y)))))) :when ((= na "
     "(exchanged-left m ma mb my)) (= ni (exchanged-inner m ma mb my)) (= nb "
     "(exchanged-right m ma mb my)) (= ny (exchanged-other m ma mb my)))"},
    {"sums-exchange-exactly", "the sums round", "exact",
     "(rewrite (Reduce \"sum\" n (Mul (Reindex m (Reduce \"sum\" k (Mul (Reindex ma a) "
     "(Reindex mb b)))) (Reindex my y))) (Reduce \"sum\" k (Mul (Reindex na a) (Reindex "
     "ni (Reduce \"sum\" n (Mul (Reindex nb b) (Reindex ny y)))))) :when ((= na "
     "(exchanged-left m ma mb my)) (= ni (exchanged-inner m ma mb my)) (= nb "
     "(exchanged-right m ma mb my)) (= ny (exchanged-other m ma mb my)))"},
    {"factor-leaves-max", "a negative factor turns the order", "finite",
     "(rewrite (Reduce \"max\" n (Mul x (Reindex m y))) (Mul (Reduce \"max\" n x) (Reindex "
     "l y)) :when ((= l (leaves-sum m)))"},
    {"factor-leaves-product", "it is multiplied once for each element", "finite",
     "(rewrite (Reduce \"prod\" n (Mul x (Reindex m y))) (Mul (Reduce \"prod\" n x) "
     "(Reindex l y)) :when ((= l (leaves-sum m)))"},
    {"addend-leaves-sum", "it is added once for each element", "finite",
     "(rewrite (Reduce \"sum\" n (Add x (Reindex m y))) (Add (Reduce \"sum\" n x) (Reindex "
     "l y)) :when ((= l (leaves-sum m)))"},
    {"sum-of-equal-elements", "a sum of n equal numbers is n times one", "finite",
     "(rewrite (Reduce \"sum\" n (Reindex m y)) (Reindex l y) :when ((= l (leaves-sum "
     "m)))"},
    {"maxima-exchange", "a negative factor turns the order", "finite",
     "(rewrite (Reduce \"max\" n (Mul (Reindex m (Reduce \"max\" k (Mul (Reindex ma a) "
     "(Reindex mb b)))) (Reindex my y))) (Reduce \"max\" k (Mul (Reindex na a) (Reindex "
     "ni (Reduce \"max\" n (Mul (Reindex nb b) (Reindex ny y)))))) :when ((= na "
     "(exchanged-left m ma mb my)) (= ni (exchanged-inner m ma mb my)) (= nb "
     "(exchanged-right m ma mb my)) (= ny (exchanged-other m ma mb my)))"},
    {"sum-and-max-exchange", "they don't", "finite",
     "(rewrite (Reduce \"sum\" n (Mul (Reindex m (Reduce \"max\" k (Mul (Reindex ma a) "
     "(Reindex mb b)))) (Reindex my y))) (Reduce \"max\" k (Mul (Reindex na a) (Reindex "
     "ni (Reduce \"sum\" n (Mul (Reindex nb b) (Reindex ny y)))))) :when ((= na "
     "(exchanged-left m ma mb my)) (= ni (exchanged-inner m ma mb my)) (= nb "
     "(exchanged-right m ma mb my)) (= ny (exchanged-other m ma mb my)))"},
    {"sums-exchange-extents", "each sum has its own extent", "finite",
     "(rewrite (Reduce \"sum\" n (Mul (Reindex m (Reduce \"sum\" k (Mul (Reindex ma a) "
     "(Reindex mb b)))) (Reindex my y))) (Reduce \"sum\" n (Mul (Reindex na a) (Reindex "
     "ni (Reduce \"sum\" k (Mul (Reindex nb b) (Reindex ny y)))))) :when ((= na "
     "(exchanged-left m ma mb my)) (= ni (exchanged-inner m ma mb my)) (= nb "
     "(exchanged-right m ma mb my)) (= ny (exchanged-other m ma mb my)))"},
    {"sums-exchange-without-a-factor", "the factor that left the inner sum is still one", "finite",
     "(rewrite (Reduce \"sum\" n (Mul (Reindex m (Reduce \"sum\" k (Mul (Reindex ma a) "
     "(Reindex mb b)))) (Reindex my y))) (Reduce \"sum\" k (Reindex ni (Reduce \"sum\" n "
     "(Mul (Reindex nb b) (Reindex ny y))))) :when ((= na (exchanged-left m ma mb my)) "
     "(= ni (exchanged-inner m ma mb my)) (= nb (exchanged-right m ma mb my)) (= ny "
     "(exchanged-other m ma mb my)))"},
    {"sums-exchange-twice-a-factor", "the outer sum's factor counts once", "finite",
     "(rewrite (Reduce \"sum\" n (Mul (Reindex m (Reduce \"sum\" k (Mul (Reindex ma a) "
     "(Reindex mb b)))) (Reindex my y))) (Reduce \"sum\" k (Mul (Reindex na a) (Reindex "
     "ni (Reduce \"sum\" n (Mul (Reindex nb b) (Mul (Reindex ny y) (Reindex ny y))))))) "
     ":when ((= na (exchanged-left m ma mb my)) (= ni (exchanged-inner m ma mb my)) (= "
     "nb (exchanged-right m ma mb my)) (= ny (exchanged-other m ma mb my)))"},
    {"sums-exchange-other-factor", "it is the other factor that stays inside", "finite",
     "(rewrite (Reduce \"sum\" n (Mul (Reindex m (Reduce \"sum\" k (Mul (Reindex ma a) "
     "(Reindex mb b)))) (Reindex my y))) (Reduce \"sum\" k (Mul (Reindex na a) (Reindex "
     "ni (Reduce \"sum\" n (Mul (Reindex nb a) (Reindex ny y)))))) :when ((= na "
     "(exchanged-left m ma mb my)) (= ni (exchanged-inner m ma mb my)) (= nb "
     "(exchanged-right m ma mb my)) (= ny (exchanged-other m ma mb my)))"},
    {"scale-leaves-sum-twice", "a scale leaves once", "finite",
     "(rule ((= v (Reduce \"sum\" n (Mul (Reindex m (Mul x y)) (Reindex mz z)))) (= c "
     "(constant y)) (= t (type-of v))) ((union v (Mul (Reduce \"sum\" n (Mul (Reindex m "
     "(Mul x y)) (Reindex mz z))) (Reindex (broadcast t) (Const c)))))"},
};

}  // namespace luminal::rule_testing
