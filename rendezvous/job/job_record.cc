#include "rendezvous/job/job_record.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::rendezvous {
namespace {

JobRecord::Member MemberOf(const Node& node) {
  NodeIdentity identity = node.identity;
  // Each report names the GPUs again, so the record, whose size is limited,
  // need not contain them.
  identity.gpus.clear();
  return {.identity = std::move(identity),
          .place_key = node.place_key,
          .peer = node.peer,
          .phase = node.phase,
          .round = node.round,
          .newest_signal = node.newest_signal,
          .failures_taken = node.failures_taken,
          .going = node.going,
          .going_why = node.going_why,
          .part = node.part,
          .group_rank = node.group_rank};
}

void Restore(const JobRecord::Member& member, Instant now, Duration lease,
             Membership& nodes) {
  Node& node = nodes.Add(member.identity, now);
  nodes.Update(node, [&](Node& n) {
    n.place_key = member.place_key;
    n.peer = member.peer;
    n.phase = member.phase;
    n.round = member.round;
    n.newest_signal = member.newest_signal;
    n.failures_taken = member.failures_taken;
    n.going = member.going;
    n.going_why = member.going_why;
    n.part = member.part;
    n.group_rank = member.group_rank;
    n.broken_since = now;
    n.is_restored = true;
  });
  nodes.SetDeadline(node, now + lease);
}

int CountMembers(const JobRecord& record, Part part) {
  return static_cast<int>(std::count_if(
      record.members.begin(), record.members.end(),
      [&](const JobRecord::Member& member) { return member.part == part; }));
}

absl::Status Unsound(const std::string& what) {
  return absl::DataLossError(absl::StrCat("the job's record ", what));
}

}  // namespace

JobRecord RecordOf(const JobState& state) {
  JobRecord record;
  record.run_id = state.run_id;
  record.spec = state.spec;
  record.run_tag = state.run_tag;
  record.age = state.now - state.born;
  record.phase = state.phase;
  record.why = state.why;
  record.round = state.round;
  record.claimed_round = state.claimed_round;
  record.restarts_used = state.restarts_used;
  record.check_is_due = state.checks.is_due();
  record.failures_in_row = state.backoff.failures();
  if (state.phase == JobPhase::kGathering) {
    record.backoff_left =
        std::max(state.gathering.not_before() - state.now, Duration::zero());
  }
  record.signals = state.signals;
  record.newest_signal = state.newest_signal;
  record.speaker = state.speaker;
  if (state.preemption.has_value()) {
    record.preemption = state.preemption->notice;
    record.preemption->left =
        std::max(state.preemption->deadline - state.now, Duration::zero());
  }
  record.verdict = state.verdict;
  if (state.recalled.has_value() && !state.finished()) {
    record.phase = JobPhase::kFinished;
    record.verdict = state.recalled;
  }
  record.world = state.world;
  record.world.began = Instant();
  record.world.unstarted = record.world.unstopped = record.world.unknown = 0;
  record.world.unknown_until = Instant();
  record.world.lost = 0;
  for (World::Member& member : record.world.members) member.peer.clear();
  if (state.round > 0) record.ran = state.now - state.world.began;
  std::map<uint64_t, const Node*> by_joining;
  for (const auto& [id, node] : state.nodes.nodes()) {
    by_joining[node.joined] = &node;
  }
  for (const auto& [joined, node] : by_joining) {
    record.members.push_back(MemberOf(*node));
  }
  record.past = state.nodes.PastNodes();
  record.stopping = state.stopping;
  record.failures = state.blame.failures();
  record.blamed = state.blame.why();
  std::vector<const NodeTime*> times;
  for (const auto& [id, node] : state.nodes.nodes()) {
    times.push_back(&node.time);
  }
  record.time = state.ledger.Without(times, state.round);
  return record;
}

JobState StateOf(const JobRecord& record, uint64_t epoch, Instant now,
                 Duration elapsed) {
  JobState state;
  state.run_id = record.run_id;
  state.epoch = epoch;
  state.spec = record.spec;
  state.now = now;
  state.born = now - record.age - elapsed;
  state.phase = record.phase;
  state.clock.since = now;
  state.why = record.why;
  if (record.round > 0) {
    state.gathering.End();
    if (record.phase == JobPhase::kGathering) {
      state.gathering.Begin(
          now + std::max(record.backoff_left - elapsed, Duration::zero()));
    }
  }
  state.backoff = RestartBackoff(record.failures_in_row);
  state.round = record.round;
  state.claimed_round = record.claimed_round;
  state.run_tag = record.run_tag;
  state.signals = record.signals;
  state.newest_signal = record.newest_signal;
  state.restarts_used = record.restarts_used;
  state.checks.Begin(record.spec.network_check);
  if (record.round > 0) state.checks.SkipFirst();
  if (record.check_is_due) state.checks.Suspect();
  state.speaker = record.speaker;
  if (record.preemption.has_value()) {
    state.preemption = Preemption{
        .notice = *record.preemption,
        .deadline =
            now + std::max(record.preemption->left - elapsed, Duration::zero()),
    };
  }
  state.verdict = record.verdict;
  state.world = record.world;
  state.world.began = now - record.ran - elapsed;
  if (record.phase == JobPhase::kRunning) {
    state.clock.since = state.world.began;
    state.world.unknown = static_cast<int>(std::count_if(
        record.world.members.begin(), record.world.members.end(),
        [](const World::Member& member) { return member.node_id.empty(); }));
    state.world.unknown_until = now + record.spec.lease();
  }
  state.world.unstarted = CountMembers(record, Part::kAssigned);
  state.world.unstopped = 0;
  for (const JobRecord::Member& member : record.members) {
    Restore(member, now, record.spec.lease(), state.nodes);
    const int rank = member.group_rank;
    if (member.part != Part::kNone && rank >= 0 && rank < state.world.size()) {
      state.world.members[rank].peer = member.peer;
    }
  }
  state.nodes.Remember(record.past);
  state.blame.Restore(record.failures, record.blamed);
  state.ledger = JobLedger(record.time);
  state.reached_step = record.world.reached_step;
  state.stopping = record.stopping;
  if (record.phase == JobPhase::kStopping) {
    state.world.unstopped =
        state.world.unstarted + CountMembers(record, Part::kRunning);
    state.world.unstarted = 0;
    state.stopping.deadline = Instant::max();
    state.stopping.Limit(now + record.spec.lease(),
                         record.spec.shutdown_timeout);
  }
  // No node could report while no coordinator ran. So postpone the phase's
  // limit until the leases are over.
  state.clock.Postpone(now, PhaseLimit(state), record.spec.lease());
  return state;
}

std::optional<JobRecord> ForNextRun(const JobRecord& record) {
  const bool runs_again = record.verdict.has_value()
                              ? RunsAgain(record.verdict->outcome)
                              : record.preemption.has_value();
  if (!runs_again) return std::nullopt;
  JobRecord next;
  next.run_id = record.run_id;
  next.spec = record.spec;
  next.run_tag = record.run_tag;
  next.age = record.age;
  next.claimed_round = std::max(record.round, record.claimed_round);
  next.restarts_used = record.restarts_used;
  next.failures_in_row = record.failures_in_row;
  next.world.reached_step = record.world.reached_step;
  next.past = record.past;
  next.time = record.time;
  return next;
}

bool IsEnding(const JobRecord& record) {
  return record.verdict.has_value() || record.preemption.has_value() ||
         (record.phase == JobPhase::kStopping &&
          record.stopping.consequence.verdict().has_value());
}

bool LearnFrom(const Directive& directive, Duration elapsed,
               JobRecord& record) {
  const int last = std::max(record.round, record.claimed_round);
  const bool has_place = directive.kind == DirectiveKind::kRun;
  const int round = std::max(has_place ? directive.place.round : 0,
                             directive.electorate.world.round);
  const int restarts =
      std::min(directive.restarts_used.value_or(0), record.spec.max_restarts);
  if (round <= last && restarts <= record.restarts_used) return false;
  record.restarts_used = std::max(restarts, record.restarts_used);
  record.age = std::max(record.age + elapsed, directive.job_age);
  if (round <= last) return true;
  // `directive`, which another coordinator sent, belongs to a later round than
  // `record`, so the recorded round is over. Reset the fields of the record
  // about the phase of that round and about its consequence (a new round or a
  // verdict), because they are outdated.
  record.phase = JobPhase::kGathering;
  record.why.clear();
  record.round = 0;
  record.claimed_round = round;
  record.failures_in_row = 0;
  record.backoff_left = Duration::zero();
  record.ran = Duration::zero();
  record.failures = FailureLog();
  record.blamed.clear();
  record.stopping = Stopping();
  record.preemption.reset();
  record.verdict.reset();
  record.members.clear();
  record.world = World{.reached_step = has_place ? directive.place.reached_step
                                                 : record.world.reached_step};
  return true;
}

absl::Status CheckRecord(const JobRecord& record) {
  if (const absl::Status valid = record.spec.Validate(); !valid.ok()) {
    return Unsound(absl::StrCat("has a setting that ", valid.message()));
  }
  if ((record.phase == JobPhase::kFinished) != record.verdict.has_value()) {
    return Unsound("has a verdict of a job that goes on, or lacks one");
  }
  const bool has_round =
      record.phase == JobPhase::kRunning || record.phase == JobPhase::kStopping;
  const int size = record.world.size();
  if (has_round && (record.round == 0 || size == 0)) {
    return Unsound("names no world of its round");
  }
  std::set<std::string> ids;
  std::set<int> node_ranks;
  int succeeded = 0;
  for (const JobRecord::Member& member : record.members) {
    const std::string& id = member.identity.node_id;
    if (!ids.insert(id).second) {
      return Unsound(absl::StrCat("names node ", id, " twice"));
    }
    const std::optional<int>& rank = member.identity.node_rank;
    if (rank.has_value() && !node_ranks.insert(*rank).second) {
      return Unsound(absl::StrCat("has node rank ", *rank, " twice"));
    }
    if (member.part == Part::kNone) continue;
    succeeded += member.part == Part::kSucceeded ? 1 : 0;
    if (member.group_rank < 0 || member.group_rank >= size ||
        record.world.members[member.group_rank].node_id != id) {
      return Unsound(absl::StrCat("gives node ", id, " a rank of another one"));
    }
  }
  if (record.phase == JobPhase::kStopping && succeeded > 0) {
    return Unsound("has a node that has succeeded and is to stop");
  }
  const int at_work = CountMembers(record, Part::kAssigned) +
                      CountMembers(record, Part::kRunning);
  if (record.world.succeeded < succeeded ||
      record.world.succeeded > size - at_work) {
    return Unsound("counts the nodes that have succeeded wrongly");
  }
  return absl::OkStatus();
}

}  // namespace muster::rendezvous
