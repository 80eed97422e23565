// The phases of a job: when each ends, and which phase follows. See the table
// in job.h.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "rendezvous/job/job.h"
#include "rendezvous/job/rank_assignment.h"

namespace muster::rendezvous {
namespace {

// The time after the grace that a member may take for SIGKILL, reaping and its
// report before it is given up.
constexpr Duration kStopMargin = std::chrono::seconds(5);

constexpr size_t kMaxNamed = 8;

std::string Count(int n, const char* noun) {
  return absl::StrCat(n, " ", noun, n == 1 ? "" : "s");
}

// The node ranks or indices (`number`) of all nodes; empty unless every node
// has one.
std::vector<int> NumbersOf(const Membership& nodes,
                           std::optional<int> NodeIdentity::*number) {
  std::vector<int> numbers;
  for (const auto& [id, node] : nodes.nodes()) {
    const std::optional<int>& own = node.identity.*number;
    if (!own.has_value()) return {};
    numbers.push_back(*own);
  }
  return numbers;
}

}  // namespace

void Job::Reconsider() {
  // One event can lead through several phases: the last member stops, a world
  // of the present nodes forms, a spare is already waiting to be let in.
  for (;;) {
    const JobPhase before = phase_;
    switch (phase_) {
      case JobPhase::kGathering:
        ConsiderGathering();
        break;
      case JobPhase::kRunning:
        ConsiderRunning();
        break;
      case JobPhase::kStopping:
        ConsiderStopping();
        break;
      case JobPhase::kFinished:
        return;
    }
    if (phase_ == before) return;
  }
}

void Job::EnterPhase(JobPhase phase) {
  phase_ = phase;
  phase_since_ = now_;
  put_off_.reset();
}

void Job::ConsiderGathering() {
  const int ready = nodes_.ready();
  if (ready < spec_.min_nodes) {
    enough_since_.reset();
  } else if (!enough_since_.has_value()) {
    enough_since_ = now_;
  }
  if (first_gathering_ ||
      nodes_.size() >= static_cast<size_t>(spec_.min_nodes)) {
    too_few_since_.reset();
  } else if (!too_few_since_.has_value()) {
    too_few_since_ = now_;
  }
  const bool timed_out = now_ >= PutOff(phase_since_ + spec_.join_timeout);
  bool form = ready >= spec_.max_nodes;
  if (enough_since_.has_value()) {
    if (timed_out) {
      form = true;
    } else if (nodes_.being_checked() > 0) {
      // A node under check is about to be ready or unhealthy: wait for it.
    } else if (first_gathering_) {
      form = form || now_ >= *enough_since_ + spec_.last_call;
    } else if (nodes_.broken() == 0) {
      // A node whose stream has just broken is about to be back or lost.
      // Waiting for its short grace avoids breaking the next round again.
      form = form || ready >= world_.size() ||
             now_ >= phase_since_ + spec_.wait_for_replacement;
    }
  }
  if (form) {
    FormWorld();
  } else if (timed_out) {
    TimeOut();
  } else if (too_few_since_.has_value() &&
             now_ >= PutOff(*too_few_since_ + spec_.rejoin_timeout)) {
    GiveUp();
  }
}

void Job::FormWorld() {
  std::map<std::string, int> previous;
  for (int i = 0; i < world_.size(); ++i) {
    previous[world_.members[i].node_id] = i;
  }
  std::vector<Candidate> candidates;
  std::vector<Node*> nodes;
  for (auto& [id, node] : nodes_.nodes()) {
    if (!node.ready()) continue;
    Candidate candidate{.identity = &node.identity, .joined = node.joined};
    if (auto it = previous.find(id); it != previous.end()) {
      candidate.previous_rank = it->second;
    }
    candidates.push_back(candidate);
    nodes.push_back(&node);
  }
  const Assignment assignment = AssignRanks(candidates, spec_.max_nodes);
  MUSTER_CHECK(!assignment.order.empty());

  std::vector<const NodeIdentity*> ordered;
  for (size_t i : assignment.order) ordered.push_back(candidates[i].identity);
  world_ = LayOut(ordered);
  Node& master = *nodes[assignment.order[0]];
  world_.master_address = master.identity.address;
  world_.master_port = master.offered_master_port;
  if (master.offered_nccl_id != master.spent_nccl_id) {
    world_.nccl_id = master.offered_nccl_id;
    master.spent_nccl_id = master.offered_nccl_id;
  }
  world_.restart_count = restarts_used_;
  world_.began = now_;
  world_.unstarted = world_.size();
  round_ = std::max(round_, claimed_round_) + 1;
  first_gathering_ = false;
  failures_.Clear();
  signals_.clear();
  EnterPhase(JobPhase::kRunning);
  why_ = absl::StrCat(Count(world_.size(), "node"), ", ",
                      Count(world_.world_size, "worker"));
  ++wording_;
  for (const std::string& note : assignment.notes) Note("rank", "", note);
  Note("assign", "",
       absl::StrCat("round ", round_, " begins: ", why_, ", master ",
                    world_.master_address, ":", world_.master_port, ", ",
                    restarts_used_, " of ", spec_.max_restarts,
                    " restarts used"));
  for (size_t rank = 0; rank < assignment.order.size(); ++rank) {
    Node& node = *nodes[assignment.order[rank]];
    nodes_.Update(node, [&](Node& n) {
      n.part = Part::kAssigned;
      n.group_rank = static_cast<int>(rank);
      n.failures_taken = 0;
    });
    Tell(node);
  }
}

bool Job::SpareWaits() const {
  return spec_.scale_up == ScaleUp::kRestart && nodes_.ready() > 0 &&
         world_.size() < spec_.max_nodes && world_.succeeded == 0 &&
         !preemption_.has_value();
}

void Job::ConsiderRunning() {
  if (world_.succeeded == world_.size()) {
    Finish(preemption_.has_value() ? PreemptionVerdict() : SuccessVerdict());
    return;
  }
  MindTheGrace();
  if (phase_ != JobPhase::kRunning) return;
  if (world_.unstarted > 0 &&
      now_ >= PutOff(world_.began + spec_.join_timeout)) {
    for (const World::Member& member : world_.members) {
      Node* node = nodes_.Find(member.node_id);
      if (node == nullptr || node->part != Part::kAssigned) continue;
      Lose(*node,
           absl::StrCat("it did not start its workers within ",
                        ToSeconds(spec_.join_timeout), " s"),
           Membership::Memory::kMayReturn);
      return;
    }
  }
  if (SpareWaits() && now_ >= world_.began + spec_.scale_up_cool_down) {
    BreakForMembership(
        absl::StrCat(Count(nodes_.ready(), "node"), " waited to be let in"),
        StopCause::kAsked);
  }
}

void Job::BreakForMembership(const std::string& why, StopCause cause) {
  BreakRound({.why = why, .cause = cause});
}

void Job::BreakRound(Break reason) {
  break_ = std::move(reason);
  break_.revision = revision_;
  EnterPhase(JobPhase::kStopping);
  why_ = break_.why;
  speaker_ = SpeakerNow();
  ++wording_;
  Note("break", "", absl::StrCat("round ", round_, " is broken: ", why_));
  world_.unstopped = 0;
  for (const World::Member& member : world_.members) {
    Node* node = nodes_.Find(member.node_id);
    if (node == nullptr || node->part == Part::kNone) continue;
    const bool stopped =
        node->round == round_ && (node->phase == NodePhase::kIdle ||
                                  node->phase == NodePhase::kSucceeded);
    node->part = stopped ? Part::kStopped : node->part;
    world_.unstopped += stopped ? 0 : 1;
  }
  StopMembers();
}

// Sends the members the newest order to stop, also if they have one already. A
// later order never gives them more time than the first.
void Job::StopMembers() {
  const Instant deadline =
      now_ + kStopMargin +
      (break_.at_once ? Duration::zero() : spec_.shutdown_timeout);
  break_.deadline = std::min(break_.deadline, deadline);
  for (const World::Member& member : world_.members) {
    Node* node = nodes_.Find(member.node_id);
    if (node != nullptr && node->part != Part::kNone) Tell(*node);
  }
}

void Job::Cancel(const std::string& why, const CancelWish& wish) {
  if (finished()) return;
  Verdict verdict = NewVerdict(Outcome::kCancelled, 128 + wish.signal,
                               absl::StrCat("cancelled: ", why));
  if (phase_ == JobPhase::kGathering) {
    Finish(std::move(verdict));
    return;
  }
  if (phase_ == JobPhase::kRunning) {
    BreakRound({.why = verdict.reason,
                .signal = wish.signal,
                .at_once = wish.at_once,
                .cause = StopCause::kCancelled,
                .verdict = verdict});
    return;
  }
  // If the failure turns out not to be the cause, the cancel still ends the
  // job.
  std::optional<Verdict>& follows =
      break_.by_failure ? break_.otherwise : break_.verdict;
  if (!follows.has_value()) {
    Note("cancel", "", verdict.reason);
    follows = verdict;
    if (!break_.verdict.has_value()) break_.verdict = std::move(verdict);
  }
  if (wish.at_once && !break_.at_once) {
    break_.at_once = true;
    StopMembers();
  }
}

void Job::ConsiderStopping() {
  if (world_.unstopped > 0 && now_ >= PutOff(break_.deadline)) {
    for (const World::Member& member : world_.members) {
      Node* node = nodes_.Find(member.node_id);
      if (node == nullptr || node->part == Part::kNone ||
          node->part == Part::kStopped) {
        continue;
      }
      Lose(*node, "its workers would not stop within the grace",
           Membership::Memory::kMayReturn);
    }
  }
  if (world_.unstopped > 0) return;
  if (break_.verdict.has_value()) {
    if (StillProvingLife()) return;
    Finish(*std::move(break_.verdict));
  } else if (preemption_.has_value()) {
    Finish(PreemptionVerdict());
  } else if (world_.succeeded == world_.size()) {
    // All workers had succeeded when the order to stop arrived.
    Finish(SuccessVerdict());
  } else {
    Gather();
  }
}

void Job::Gather() {
  EnterPhase(JobPhase::kGathering);
  enough_since_.reset();
  ++wording_;
  for (auto& [id, node] : nodes_.nodes()) {
    if (node.part == Part::kNone) continue;
    nodes_.Update(node, [](Node& n) { n.part = Part::kNone; });
    if (node.going) Tell(node);
  }
}

// A text that lists the missing nodes as far as they are known: members of the
// previous world with how each left, or before the first world the node ranks
// or indices that no present node has.
std::string Job::Absent() const {
  std::vector<std::string> absent;
  for (const World::Member& member : world_.members) {
    if (!nodes_.nodes().contains(member.node_id)) {
      absent.push_back(
          member.departure.empty()
              ? member.host
              : absl::StrCat(member.host, " (", member.departure, ")"));
    }
  }
  if (world_.size() == 0) {
    std::vector<int> claimed = NumbersOf(nodes_, &NodeIdentity::node_rank);
    const char* what = "node rank ";
    if (claimed.empty() && spec_.min_nodes == spec_.max_nodes) {
      claimed = NumbersOf(nodes_, &NodeIdentity::index);
      what = "index ";
    }
    if (claimed.empty()) return "";
    for (int number = 0; number < spec_.min_nodes; ++number) {
      if (std::find(claimed.begin(), claimed.end(), number) == claimed.end()) {
        absent.push_back(absl::StrCat(what, number));
      }
      if (absent.size() > kMaxNamed) break;
    }
  }
  if (absent.empty()) return "";
  const bool more = absent.size() > kMaxNamed;
  if (more) absent.resize(kMaxNamed);
  return absl::StrCat("; absent: ", absl::StrJoin(absent, ", "),
                      more ? ", …" : "");
}

// A text that lists the unhealthy nodes and the reasons.
std::string Job::KeptOut(const Node* who_knows) const {
  std::string text;
  size_t named = 0;
  for (const std::string& id : nodes_.kept_out()) {
    const Node& node = nodes_.nodes().at(id);
    if (&node == who_knows) continue;
    if (named == kMaxNamed) return absl::StrCat(text, ", …");
    absl::StrAppend(&text, named++ == 0 ? "; unhealthy: " : ", ",
                    node.identity.host, " (", node.unhealthy, ")");
  }
  return text;
}

void Job::TimeOut() {
  const bool was_unhealthy =
      !nodes_.kept_out().empty() || nodes_.being_checked() > 0;
  Finish(NewVerdict(
      Outcome::kTimedOut, 1,
      absl::StrCat("only ", nodes_.ready(), " of at least ",
                   Count(spec_.min_nodes, "node"),
                   was_unhealthy ? " came and were found healthy within "
                                 : " came within ",
                   ToSeconds(spec_.join_timeout), " s", Absent(),
                   KeptOut(nullptr))));
}

void Job::GiveUp() {
  const auto left = static_cast<int>(nodes_.size());
  Finish(NewVerdict(
      Outcome::kTimedOut, 1,
      absl::StrCat("only ", left, " of at least ",
                   Count(spec_.min_nodes, "node"), left == 1 ? " is" : " are",
                   " left, and no other came within ",
                   ToSeconds(spec_.rejoin_timeout), " s", Absent())));
}

Verdict Job::NewVerdict(Outcome outcome, int exit_code,
                        std::string reason) const {
  Verdict verdict;
  verdict.outcome = outcome;
  verdict.exit_code = exit_code;
  verdict.reason = std::move(reason);
  return verdict;
}

Verdict Job::SuccessVerdict() const {
  return NewVerdict(Outcome::kSucceeded, 0, "every worker succeeded");
}

void Job::Finish(Verdict verdict) {
  EnterPhase(JobPhase::kFinished);
  why_ = verdict.reason;
  verdict.restarts_used = restarts_used_;
  verdict.max_restarts = spec_.max_restarts;
  // A coordinator that was started again may have formed none itself.
  verdict.rounds = round_ > 0 ? round_ : claimed_round_;
  verdict.lasted = now_ - born_;
  if (verdict.outcome != Outcome::kSucceeded) failures_.Tell(verdict);
  verdict_ = std::move(verdict);
  speaker_ = SpeakerNow();
  Note("finish", "", why_);
  for (auto& [id, node] : nodes_.nodes()) Tell(node);
  for (const auto& [stream, successor] : successors_) {
    TellStream(stream, DirectiveKind::kFinished, why_);
  }
}

Instant Job::PutOff(Instant limit) const {
  return put_off_.has_value() ? std::max(limit, *put_off_) : limit;
}

std::optional<Instant> Job::PhaseLimit() const {
  switch (phase_) {
    case JobPhase::kGathering: {
      Instant limit = phase_since_ + spec_.join_timeout;
      if (too_few_since_.has_value()) {
        limit = std::min(limit, *too_few_since_ + spec_.rejoin_timeout);
      }
      return PutOff(limit);
    }
    case JobPhase::kRunning:
      if (world_.unstarted == 0) return std::nullopt;
      return PutOff(world_.began + spec_.join_timeout);
    case JobPhase::kStopping:
      if (world_.unstopped == 0) return std::nullopt;
      return PutOff(break_.deadline);
    case JobPhase::kFinished:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Instant> Job::PhaseDeadline() const {
  std::optional<Instant> deadline = PhaseLimit();
  switch (phase_) {
    case JobPhase::kGathering:
      if (enough_since_.has_value()) {
        const Instant soon = first_gathering_
                                 ? *enough_since_ + spec_.last_call
                                 : phase_since_ + spec_.wait_for_replacement;
        if (soon > now_) deadline = std::min(*deadline, soon);
      }
      return deadline;
    case JobPhase::kRunning: {
      if (preemption_.has_value() &&
          (!deadline.has_value() || preemption_->deadline < *deadline)) {
        deadline = preemption_->deadline;
      }
      const Instant let_in = world_.began + spec_.scale_up_cool_down;
      if (SpareWaits() && (!deadline.has_value() || let_in < *deadline)) {
        deadline = let_in;
      }
      return deadline;
    }
    case JobPhase::kStopping:
      // After this time only the return of a broken stream is awaited, and the
      // lease limits that.
      if (now_ < break_.outlived &&
          (!deadline.has_value() || break_.outlived < *deadline)) {
        return break_.outlived;
      }
      return deadline;
    case JobPhase::kFinished:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace muster::rendezvous
