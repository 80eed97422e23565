#include "rendezvous/takeover/standby.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rendezvous/job/constituency.h"

namespace muster::rendezvous {
namespace {

bool IsFresh(const Report& report) {
  return !report.place.has_value() && report.promised_epoch == 0;
}

}  // namespace

Standby::Standby(Kind kind, uint64_t candidate)
    : kind_(kind), candidate_(candidate) {}

Standby::Step Standby::Hear(Instant now, StreamId stream,
                            const Report& report) {
  Step step;
  if (const std::optional<Leader> leader = Known(now)) {
    Directive moved = NewDirective(
        DirectiveKind::kMoved,
        absl::StrCat("the job is coordinated at ", leader->endpoint));
    moved.standbys = {leader->endpoint};
    step.deliveries.push_back({stream, std::move(moved)});
    Remove(stream);
    return step;
  }
  // A node may reconnect before this process notices the end of the node's old
  // connection. Remove the report of the old connection, so that the node votes
  // only once.
  const auto old = streams_.find(report.node.node_id);
  if (old != streams_.end() && old->second != stream) {
    const Report& other = reports_.at(old->second);
    const bool is_stale = other.node.incarnation == report.node.incarnation &&
                          other.sequence > report.sequence;
    // All reports of an agent contain the same place key, a secret of this
    // agent. If the key differs, the report is from a stranger that claims to
    // be this node.
    const bool is_stranger =
        other.node.incarnation == report.node.incarnation &&
        other.place_key != report.place_key;
    if (is_stale || is_stranger) return step;
    Remove(old->second);
  }
  // Answer a node that has just connected. It then knows that it is at a
  // standby, and goes to the next one if the election takes too long.
  const bool is_new = reports_.insert_or_assign(stream, report).second;
  streams_[report.node.node_id] = stream;
  recount_.Heard();
  // The node has promised to obey no coordinator with the epoch of the current
  // election, so that this election cannot succeed.
  const bool overrules = report.promised_epoch > epoch_;
  if (overrules) EndElection();
  if (recount_.IsDue(now)) Count(now, step);
  if (step.elected.has_value() || !step.deliveries.empty()) return step;
  if (is_new || epoch_ == 0 || report.promised_epoch != epoch_) {
    step.deliveries.push_back({stream, StandBy()});
  }
  return step;
}

void Standby::Count(Instant now, Step& step) {
  std::vector<const Report*> all;
  std::vector<const Report*> promised;
  bool all_fresh = true;
  for (const auto& [id, one] : reports_) {
    // A node that is leaving the job does not vote.
    if (one.leave.has_value()) continue;
    all.push_back(&one);
    all_fresh = all_fresh && IsFresh(one);
    if (epoch_ != 0 && one.promised_epoch == epoch_) promised.push_back(&one);
  }
  if (kind_ == Kind::kFounder && all_fresh && !all.empty()) {
    step.elected = std::max<uint64_t>(candidate_ & kDrawnEpochMask, 1);
    return;
  }
  gathered_ = Gathered();
  int lacking = 0;
  const bool is_asking = epoch_ != 0;
  const bool have_majority = HaveMajority(is_asking ? promised : all, &lacking);
  recount_.Counted(now, lacking);
  // The connected nodes are no majority any more, so the election cannot
  // succeed. End it, so that Meet may send the nodes to another standby.
  const bool is_over = is_asking && !have_majority && !HaveMajority(all);
  if (is_over) EndElection();
  if (!have_majority) return;
  if (is_asking) {
    step.elected = epoch_;
    return;
  }
  const uint64_t above =
      (HighestPromise() & ~kDrawnEpochMask) + kDrawnEpochMask + 1;
  candidate_ = std::max(candidate_, above | (candidate_ & kDrawnEpochMask));
  epoch_ = candidate_;
  // candidate_ is the lowest epoch for this standby's next election. Raise it,
  // because another coordinator may win the current election, and the next
  // election then needs a new epoch.
  candidate_ += kDrawnEpochMask + 1;
  recount_.Demand();
  for (const auto& [id, one] : reports_) {
    step.deliveries.push_back({id, StandBy()});
  }
}

void Standby::EndElection() {
  if (epoch_ == 0) return;
  epoch_ = 0;
  recount_.Demand();
}

void Standby::Remove(StreamId stream) {
  const auto found = reports_.find(stream);
  if (found == reports_.end()) return;
  streams_.erase(found->second.node.node_id);
  reports_.erase(found);
}

void Standby::Forget(StreamId stream) {
  Remove(stream);
  if (reports_.empty()) EndElection();
}

void Standby::Follow(std::optional<Leader> leader) {
  followed_ = std::move(leader);
}

void Standby::Learn(const Directive& directive) {
  // A new coordinator that does not know the electorate yet names no standbys.
  // The handover of the earlier one stays valid until then.
  if (directive.electorate.epoch == 0) return;
  const bool is_late = handover_.has_value() &&
                       directive.handover.has_value() &&
                       directive.epoch == handover_epoch_ &&
                       directive.handover->number < handover_->number;
  if (is_late) return;
  handover_epoch_ = directive.epoch;
  handover_ = directive.handover;
}

Standby::Step Standby::Told(Instant now, uint64_t epoch,
                            const std::string& endpoint, Backing backing) {
  Step step;
  const bool knows_round = std::ranges::any_of(reports_, [](const auto& one) {
    return one.second.place.has_value() ||
           one.second.promised_epoch > kDrawnEpochMask;
  });
  if (backing == Backing::kMinority && knows_round) return step;
  const bool is_newer = announced_.has_value() && now < announced_->until &&
                        announced_->leader.epoch > epoch;
  if (is_newer || epoch < std::max(HighestPromise(), epoch_)) return step;
  // The other coordinator has already begun the job, so this standby must not
  // begin the job as its founder.
  if (kind_ == Kind::kFounder) kind_ = Kind::kFormerFounder;
  announced_ = Announced{.leader = {.endpoint = endpoint, .epoch = epoch},
                         .until = now + kToldFor};
  // Iterate over a copy of reports_. Each call of Hear below sends one node to
  // the other coordinator, and removes the node's report from reports_.
  const std::map<StreamId, Report> here = reports_;
  for (const auto& [stream, report] : here) {
    Step moved = Hear(now, stream, report);
    std::ranges::move(moved.deliveries, std::back_inserter(step.deliveries));
  }
  return step;
}

std::optional<Standby::Leader> Standby::Known(Instant now) const {
  if (followed_.has_value()) return followed_;
  if (announced_.has_value() && now < announced_->until) {
    return announced_->leader;
  }
  return std::nullopt;
}

bool Standby::HaveMajority(const std::vector<const Report*>& voting) const {
  int unused = 0;
  return HaveMajority(voting, &unused);
}

bool Standby::HaveMajority(const std::vector<const Report*>& voting,
                           int* lacking) const {
  *lacking = 1;
  if (voting.empty()) return false;
  std::vector<const Report*> all;
  for (const auto& [stream, report] : reports_) all.push_back(&report);
  const std::vector<Constituency> constituencies =
      ConstituenciesOf(all, voting);
  const bool before_any_round = constituencies.empty();
  if (!before_any_round &&
      std::ranges::all_of(constituencies, [](const Constituency& one) {
        return one.has_majority();
      })) {
    return true;
  }
  const JobSpec& spec = reports_.begin()->second.spec;
  const auto here = static_cast<int>(std::ranges::count_if(
      voting, [](const Report* report) { return !IsSpare(*report); }));
  // At least this many further nodes must connect before every constituency can
  // have its majority. A node may be a voter of several constituencies. So this
  // is the highest number that one constituency lacks, not the sum.
  int of_all = 0;
  for (const Constituency& one : constituencies) {
    of_all = std::max({of_all, one.nodes / 2 + 1 - one.voters - one.returned,
                       (one.nodes + 1) / 2 - one.voters});
  }
  *lacking = spec.max_nodes - MaxElsewhere(spec) - here;
  if (!before_any_round) *lacking = std::min(*lacking, of_all);
  // An epoch above kDrawnEpochMask comes from an election. If a node has
  // promised such an epoch, another coordinator may have been elected, even if
  // it has not sent an electorate (the nodes whose votes count) yet. This
  // standby's own election does not count.
  const bool knows_elected =
      std::ranges::any_of(reports_, [this](const auto& one) {
        const uint64_t promised = one.second.promised_epoch;
        return promised > kDrawnEpochMask && promised != epoch_;
      });
  if (before_any_round && !knows_elected) {
    if (kind_ == Kind::kFounder) {
      *lacking = std::min(*lacking, spec.min_nodes - here);
      if (here >= spec.min_nodes) return true;
    }
    // No node that is connected here knows a world. Elect nobody in two cases:
    // - Two worlds could run at once (not RestartedAgentsElect). One world may
    //   run under another coordinator, and the agents here were restarted and
    //   have forgotten that world.
    // - No node here has ever met the first coordinator: no node has promised
    //   to obey it. The first coordinator may still be starting, and may
    //   continue the job from a record.
    //
    // Neither case prevents the election of a former founder: all nodes look
    // for the job here, so too few nodes for a world can be elsewhere.
    const bool may_elect = HighestPromise() > 0 && spec.RestartedAgentsElect();
    if (!may_elect && kind_ != Kind::kFormerFounder) return false;
  }
  return OthersAreTooFew(spec, here, constituencies);
}

Standby::Step Standby::Meet(Instant now, const Assembly& other,
                            const std::string& own_endpoint) {
  Step step;
  const int here = Assembled(now);
  const bool is_first =
      std::tie(other.nodes, own_endpoint) > std::tie(here, other.endpoint);
  if (here == 0 || !is_first) return step;
  std::erase_if(sent_,
                [&](const auto& one) { return now >= one.second + kStaysFor; });
  const std::string why =
      absl::StrCat("more nodes have gathered at ", other.endpoint);
  for (auto it = reports_.begin(); it != reports_.end();) {
    if (!sent_.emplace(it->second.node.node_id, now).second) {
      ++it;
      continue;
    }
    Directive moved = NewDirective(DirectiveKind::kMoved, why);
    moved.standbys = {other.endpoint};
    step.deliveries.push_back({it->first, std::move(moved)});
    streams_.erase(it->second.node.node_id);
    it = reports_.erase(it);
  }
  return step;
}

int Standby::Assembled(Instant now) const {
  if (epoch_ != 0 || Known(now).has_value()) return 0;
  return static_cast<int>(reports_.size());
}

Directive Standby::NewDirective(DirectiveKind kind, std::string reason) {
  Directive directive;
  directive.epoch = epoch_;
  directive.revision = ++revision_;
  directive.kind = kind;
  directive.reason = std::move(reason);
  return directive;
}

Directive Standby::StandBy() {
  return NewDirective(DirectiveKind::kStandBy, gathered_);
}

std::string Standby::Gathered() const {
  std::vector<const Report*> all;
  for (const auto& [stream, report] : reports_) all.push_back(&report);
  std::string reason =
      absl::StrCat("nodes that have come to this standby: ", reports_.size());
  const std::vector<Constituency> constituencies = ConstituenciesOf(all, all);
  for (const Constituency& one : constituencies) {
    absl::StrAppend(&reason, "; ", one.voters, " of the ", one.nodes,
                    " nodes of round ", one.world.round);
  }
  const auto fresh = std::ranges::count_if(
      all, [](const Report* report) { return IsFresh(*report); });
  if (fresh > 0 && !constituencies.empty() &&
      !all.front()->spec.RestartedAgentsElect()) {
    absl::StrAppend(&reason, "; ", fresh, " new or restarted, without a vote");
  }
  return reason;
}

std::vector<std::pair<StreamId, Report>> Standby::Replay() const {
  std::vector<std::pair<StreamId, Report>> replayed(reports_.begin(),
                                                    reports_.end());
  std::ranges::stable_sort(replayed, std::greater(), [](const auto& one) {
    const std::optional<Place>& place = one.second.place;
    return place.has_value() ? WorldId{place->epoch, place->round} : WorldId();
  });
  const auto newest =
      std::ranges::max_element(replayed, {}, [](const auto& one) {
        const Electorate& electorate = one.second.electorate;
        return std::pair(electorate.epoch, electorate.world);
      });
  if (newest != replayed.end()) {
    std::rotate(replayed.begin(), newest, newest + 1);
  }
  return replayed;
}

uint64_t Standby::HighestPromise() const {
  uint64_t highest = 0;
  for (const auto& [stream, report] : reports_) {
    highest = std::max(highest, report.promised_epoch);
  }
  return highest;
}

}  // namespace muster::rendezvous
