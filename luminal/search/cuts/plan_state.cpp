#include "luminal/search/cuts/plan_state.h"

#include <algorithm>

namespace luminal::search {
namespace {

using kernel::ClassId;

// Differences below this share are ties, broken by fewer kernels.
constexpr double kNoise = 1e-6;

bool better(double seconds, int n_kernels, double than_seconds, int than_kernels) {
  if (seconds < than_seconds * (1 - kNoise)) return true;
  return seconds <= than_seconds * (1 + kNoise) && n_kernels < than_kernels;
}

}  // namespace

PlanState::PlanState(PlanCost& cost, const kernel::Choice& choice)
    : cost_(&cost),
      choice_(choice),
      kernels_(choice.cut.size()),
      n_readers_(choice.cut.size(), 0),
      kernels_with_(choice.cut.size()),
      changed_at_(choice.cut.size(), 1) {
  if (cost.terms().has_cycle(choice.term)) {
    why_ = kTermsInACycle;
    return;
  }
  outdated_ = cost.roots();
  bool settled = settle();
  while (settled && clear_unread(cost.live())) settled = !reads_itself() && settle();
  before_.clear();
  flipped_.clear();
  other_terms_.clear();
}

bool PlanState::better_than(const PlanState& other) const {
  if (!why_.empty() || !other.why_.empty()) return why_.empty() && !other.why_.empty();
  return better(seconds_, n_kernels_, other.seconds_, other.n_kernels_);
}

std::vector<ClassId> PlanState::stored() const {
  std::vector<ClassId> ids;
  for (uint32_t i = 0; i < kernels_.size(); ++i) {
    if (kernels_[i]) ids.push_back(ClassId{i});
  }
  return ids;
}

std::vector<ClassId> PlanState::reads(ClassId root) const {
  std::vector<ClassId> ids;
  const PlacedKernel& kernel = *kernels_[root.index()];
  for (uint32_t position : kernel.form->reads) ids.push_back(kernel.classes[position]);
  return ids;
}

std::vector<kernel::Use> PlanState::uses() const {
  std::vector<kernel::Use> result;
  for (uint32_t i = 0; i < kernels_.size(); ++i) {
    if (!kernels_[i]) continue;
    const ClassId root{i};
    for (ClassId read : reads(root)) {
      const bool shared = n_readers_[read.index()] > 1 || cost_->is_required(read);
      if (!shared || !cost_->may_be_computed_again(read) || !kernels_[read.index()]) continue;
      if (kernels_[read.index()]->form->is_elementwise) result.push_back({root, read});
    }
  }
  for (const kernel::Use& use : choice_.again) {
    if (kernels_[use.root.index()]) result.push_back(use);
  }
  return result;
}

// Noise is relative to the kernels that a move changes: more layers must not change a plan.
bool PlanState::is_improvement() const {
  double seconds_before = 0, seconds_after = 0;
  int before = 0, after = 0;
  for (const auto& [root, kernel] : before_) {
    const int times = cost_->times(root);
    if (kernel) seconds_before += kernel->seconds * times;
    if (kernels_[root.index()]) seconds_after += kernels_[root.index()]->seconds * times;
    before += kernel.has_value() ? times : 0;
    after += kernels_[root.index()].has_value() ? times : 0;
  }
  return better(seconds_after, after, seconds_before, before);
}

// Whether terms that changed since the last call close a cycle.
bool PlanState::reads_itself() {
  const bool cycle = cost_->terms().has_cycle(choice_.term, other_terms_);
  if (cycle) why_ = kTermsInACycle;
  other_terms_.clear();
  return cycle;
}

// Makes a move and lowers what it changes. False if there is no such plan.
bool PlanState::attempt(const Move& move) {
  for (ClassId id : move.cuts) flip(id);
  for (const TermFlip& term : move.terms) flip(term);
  for (const kernel::Use& use : move.uses) flip(use);
  bool settled = !reads_itself() && settle();
  // A cleared cut may change which view a kernel reads through: those are lowered again.
  while (settled && clear_unread(changed_roots())) settled = !reads_itself() && settle();
  return settled;
}

PlanState::Rival PlanState::rival(const Move& move) {
  const double seconds = seconds_;
  const bool settled = attempt(move);
  Rival rival{.seconds = seconds_, .why = settled ? "" : why_};
  undo(seconds);
  return rival;
}

bool PlanState::improve(const Move& move) {
  const double seconds = seconds_;
  if (!attempt(move) || !is_improvement()) {
    undo(seconds);
    return false;
  }
  keep();
  return true;
}

bool PlanState::take(const Move& move) {
  const double seconds = seconds_;
  if (!attempt(move)) {
    undo(seconds);
    return false;
  }
  keep();
  return true;
}

void PlanState::keep() {
  ++now_;
  for (const auto& [root, kernel] : before_) {
    if (kernel) touch(*kernel);
    if (kernels_[root.index()]) touch(*kernels_[root.index()]);
  }
  before_.clear();
  flipped_.clear();
  terms_before_.clear();
  uses_flipped_.clear();
}

bool PlanState::needed(ClassId id) const {
  return n_readers_[id.index()] > 0 || cost_->is_required(id);
}

// The kernels that compute or read it, and those that read it through a view chosen by it, have to
// be lowered again.
void PlanState::flip(ClassId id) {
  flipped_.push_back(id);
  choice_.cut[id.index()] = !choice_.cut[id.index()];
  const auto& roots = kernels_with_[id.index()];
  outdated_.insert(outdated_.end(), roots.begin(), roots.end());
  for (ClassId view : cost_->chosen_by(id)) {
    const int term = cost_->best_term(view, choice_.cut);
    if (term != choice_.term[view.index()]) change_term(view, term);
  }
}

void PlanState::flip(const TermFlip& flip) {
  terms_before_.push_back({flip.id, choice_.term[flip.id.index()]});
  change_term(flip.id, flip.term);
}

void PlanState::flip(const kernel::Use& use) {
  uses_flipped_.push_back(use);
  if (choice_.again.erase(use) == 0) choice_.again.insert(use);
  if (kernels_[use.root.index()]) outdated_.push_back(use.root);
}

void PlanState::change_term(ClassId id, int term) {
  choice_.term[id.index()] = term;
  other_terms_.push_back(id);
  if (kernels_[id.index()]) outdated_.push_back(id);
  const auto& roots = kernels_with_[id.index()];
  outdated_.insert(outdated_.end(), roots.begin(), roots.end());
}

void PlanState::place(ClassId root, PlacedKernel kernel) {
  for (ClassId id : kernel.classes) {
    if (id != root && cost_->may_change(id)) kernels_with_[id.index()].push_back(root);
  }
  for (uint32_t position : kernel.form->reads) ++n_readers_[kernel.classes[position].index()];
  seconds_ += kernel.seconds * cost_->times(root);
  n_kernels_ += cost_->times(root);
  kernels_[root.index()] = std::move(kernel);
}

// Removes the kernel of `root`, and saves it as it was before the move.
void PlanState::remove(ClassId root) {
  Slot& slot = kernels_[root.index()];
  for (ClassId id : slot->classes) {
    if (id == root || !cost_->may_change(id)) continue;
    auto& roots = kernels_with_[id.index()];
    *std::find(roots.begin(), roots.end(), root) = roots.back();
    roots.pop_back();
  }
  for (uint32_t position : slot->form->reads) {
    const ClassId id = slot->classes[position];
    if (--n_readers_[id.index()] == 0) unread_.push_back(id);
  }
  seconds_ -= slot->seconds * cost_->times(root);
  n_kernels_ -= cost_->times(root);
  before_.try_emplace(root, std::move(*slot));
  slot.reset();
}

// Lowers what is outdated and what that reads; drops what nothing reads. False if there is no such
// plan.
bool PlanState::settle() {
  std::vector<ClassId> wanted = std::move(outdated_);
  outdated_.clear();
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  for (ClassId root : wanted) {
    if (kernels_[root.index()]) remove(root);
  }
  while (!wanted.empty()) {
    const ClassId root = wanted.back();
    wanted.pop_back();
    // A kernel that nothing reads now may still be requested by one that is lowered later.
    if (kernels_[root.index()] || !needed(root)) continue;
    PlacedKernel kernel = cost_->place(root, choice_);
    if (!kernel.form->lowered) {
      why_ = kernel.form->why;
      return false;
    }
    before_.try_emplace(root, std::nullopt);
    place(root, std::move(kernel));
    for (ClassId read : reads(root)) {
      if (!kernels_[read.index()]) wanted.push_back(read);
    }
  }
  drop_unread();
  return true;
}

void PlanState::drop_unread() {
  while (!unread_.empty()) {
    const ClassId id = unread_.back();
    unread_.pop_back();
    if (kernels_[id.index()] && !needed(id)) remove(id);
  }
}

std::vector<ClassId> PlanState::changed_roots() const {
  std::vector<ClassId> roots = flipped_;
  for (const auto& [root, kernel] : before_) roots.push_back(root);
  return roots;
}

// Clears the cuts among `roots` that no kernel needs. True if that changed a kernel.
bool PlanState::clear_unread(std::span<const ClassId> roots) {
  for (ClassId id : roots) {
    const bool stored = kernels_[id.index()] || cost_->forced()[id.index()];
    if (choice_.cut[id.index()] && !stored) flip(id);
  }
  return !outdated_.empty();
}

void PlanState::touch(const PlacedKernel& kernel) {
  for (ClassId id : kernel.classes) changed_at_[id.index()] = now_;
}

void PlanState::undo(double seconds) {
  why_.clear();
  outdated_.clear();
  std::map<ClassId, Slot> before = std::move(before_);
  before_.clear();
  for (const auto& [root, kernel] : before) {
    if (kernels_[root.index()]) remove(root);
  }
  for (auto& [root, kernel] : before) {
    if (kernel) place(root, std::move(*kernel));
  }
  before_.clear();
  unread_.clear();
  const std::vector<ClassId> flipped = std::move(flipped_);
  for (ClassId id : flipped) flip(id);
  flipped_.clear();
  const std::vector<TermFlip> terms = std::move(terms_before_);
  terms_before_.clear();
  const std::vector<kernel::Use> uses = std::move(uses_flipped_);
  for (const kernel::Use& use : uses) flip(use);
  uses_flipped_.clear();
  for (auto flip = terms.rbegin(); flip != terms.rend(); ++flip) change_term(flip->id, flip->term);
  other_terms_.clear();
  outdated_.clear();
  seconds_ = seconds;  // exact, without rounding errors of sums
}

}  // namespace luminal::search
