#include "launcher/run_report/report_record.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/message_text.h"
#include "rendezvous/events/event_log.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::launcher {
namespace {

using rendezvous::JobPhase;
using rendezvous::JobRecord;
using rendezvous::KeptJob;

// Maximum difference, in seconds, of two times that count as equal. The record
// and the event of one decision are written one after the other, so their times
// differ a little.
constexpr double kSameTimeS = 1;

// BeganAt: when the job began. WrittenAt: when its record was written. Both are
// in seconds since 1970.
double BeganAt(const KeptJob& kept) {
  return ToSeconds(kept.written_at) - ToSeconds(kept.job.age);
}
double WrittenAt(const KeptJob& kept) { return ToSeconds(kept.written_at); }

std::string_view TextOf(rendezvous::Part part) {
  switch (part) {
    case rendezvous::Part::kNone:
      return "";
    case rendezvous::Part::kAssigned:
      return "assigned";
    case rendezvous::Part::kRunning:
      return "runs";
    case rendezvous::Part::kSucceeded:
      return "succeeded";
    case rendezvous::Part::kStopped:
      return "stopped";
  }
  return "";
}

// The members of the newest world by group rank, then the other nodes.
std::vector<ReportMember> MembersOf(const JobRecord& job) {
  std::map<std::string, const JobRecord::Member*> by_id;
  for (const JobRecord::Member& member : job.members) {
    by_id.emplace(member.identity.node_id, &member);
  }
  std::vector<ReportMember> members;
  for (int rank = 0; rank < job.world.size(); ++rank) {
    const auto& place = job.world.members[static_cast<size_t>(rank)];
    ReportMember member{.node_id = place.node_id,
                        .host = place.host,
                        .group_rank = rank,
                        .first_rank = place.first_rank,
                        .slots = place.slots,
                        .note = place.departure};
    const auto found = by_id.find(place.node_id);
    if (found != by_id.end()) {
      const JobRecord::Member& known = *found->second;
      member.state = TextOf(known.part);
      if (known.going) member.note = known.going_why;
      by_id.erase(found);
    } else if (member.note.empty()) {
      member.note = "not in the job any more";
    }
    members.push_back(std::move(member));
  }
  for (const JobRecord::Member& known : job.members) {
    if (!by_id.contains(known.identity.node_id)) continue;
    members.push_back({.node_id = known.identity.node_id,
                       .host = known.identity.host,
                       .group_rank = std::nullopt,
                       .first_rank = std::nullopt,
                       .slots = known.identity.slots,
                       .state = "spare",
                       .note = known.going ? known.going_why : ""});
  }
  return members;
}

// Returns the event of the kind "state" that a coordinator with this record
// would write to its event log. Parts of the command that look like secrets are
// left out.
RecordedEvent StateOf(const KeptJob& kept) {
  const JobRecord& job = kept.job;
  rendezvous::JobStatus status{.run_id = job.run_id,
                               .spec = job.spec,
                               .phase = job.phase,
                               .reason = job.why,
                               .round = job.round,
                               .world_size = job.world.world_size,
                               .restarts_used = job.restarts_used,
                               .age = job.age,
                               .preemption = std::nullopt,
                               .time = job.time,
                               .verdict = job.verdict};
  for (const ReportMember& member : MembersOf(job)) {
    rendezvous::NodeStatus node;
    node.node.node_id = member.node_id;
    node.node.host = member.host;
    node.node.slots = member.slots;
    node.group_rank = member.group_rank;
    status.nodes.push_back(std::move(node));
  }
  RecordedEvent event{.time = WrittenAt(kept),
                      .run_id = job.run_id,
                      .round = job.round,
                      .kind = "state",
                      .node = "",
                      .reason = job.why,
                      .failure = std::nullopt,
                      .state = std::nullopt};
  const std::optional<RecordedEvent> read = ParseEvent(rendezvous::StateLine(
      status, rendezvous::StateDetail::kNodes, WrittenAt(kept)));
  if (read.has_value()) event.state = read->state;
  if (!event.state.has_value()) return event;
  // Remove the setting "version". StateLine sets it to the version of this
  // program, but another version may have coordinated the job.
  std::erase_if(event.state->settings,
                [](const auto& setting) { return setting.first == "version"; });
  return event;
}

// Returns the newest round in the record; nullopt: no round has begun.
std::optional<ReportRound> RoundOf(const KeptJob& kept) {
  const JobRecord& job = kept.job;
  if (job.round == 0) return std::nullopt;
  ReportRound round{
      .number = job.round,
      .begin = WrittenAt(kept) - ToSeconds(job.ran),
      .began_as = absl::StrCat(Counted(job.world.size(), "node"), ", ",
                               Counted(job.world.world_size, "worker")),
      .why = job.blamed,
      .cause = job.failures.cause(),
      .max_step = std::nullopt,
      .first_step = std::nullopt};
  if (job.phase == JobPhase::kRunning) {
    round.why.clear();
    return round;
  }
  round.ended_by = ReportRound::End::kBroken;
  if (job.verdict.has_value()) {
    round.end = BeganAt(kept) + ToSeconds(job.verdict->lasted);
    if (round.why.empty()) {
      round.ended_by = ReportRound::End::kFinished;
      round.why = job.verdict->reason;
    }
  }
  return round;
}

void AddRound(const KeptJob& kept, RunReport& report) {
  const std::optional<ReportRound> round = RoundOf(kept);
  if (!round.has_value()) return;
  const int newest = report.rounds.empty() ? 0 : report.rounds.back().number;
  if (round->number > newest) {
    report.rounds_dropped += round->number - newest - 1;
    report.rounds.push_back(*round);
    return;
  }
  if (round->number < newest) return;
  ReportRound& known = report.rounds.back();
  if (known.ended_by != ReportRound::End::kUnknown) return;
  known.ended_by = round->ended_by;
  known.end = round->end;
  known.why = round->why;
  if (round->cause.has_value()) known.cause = round->cause;
}

void AddInterruptions(const KeptJob& kept, RunReport& report) {
  const JobRecord& job = kept.job;
  const rendezvous::JobTime& time =
      job.verdict.has_value() ? job.verdict->time : job.time;
  std::set<int> known;
  for (const ReportInterruption& one : report.interruptions) {
    known.insert(one.round);
  }
  for (const rendezvous::Incident& incident : time.newest) {
    if (!known.insert(incident.round).second) continue;
    ReportInterruption one{.round = incident.round,
                           .why = incident.why,
                           .failure = std::nullopt,
                           .incident = incident,
                           .repeated_steps = std::nullopt};
    // The record contains the failure and the end only of its newest round. For
    // an interruption of an earlier round they are unknown.
    if (incident.round == job.round) {
      one.failure = job.failures.cause();
      if (const auto round = RoundOf(kept)) one.time = round->end;
    }
    // Before the verdict, the record has the lost time only of nodes that have
    // left, so the total lost time is unknown. The value nodes = 0 means that
    // it is unknown.
    if (!job.verdict.has_value()) one.incident->nodes = 0;
    report.interruptions.push_back(std::move(one));
  }
  std::ranges::stable_sort(report.interruptions, {},
                           &ReportInterruption::round);
}

using Settings = std::vector<std::pair<std::string, std::string>>;

// Adds those `settings` of the record that are missing or empty in the event
// log. For example, a rendezvousd does not write the job's command to its log.
void AddSettings(const Settings& settings, RunReport& report) {
  for (const auto& [name, value] : settings) {
    const auto known =
        std::ranges::find(report.settings, name, &Settings::value_type::first);
    if (known == report.settings.end()) {
      report.settings.emplace_back(name, value);
    } else if (known->second.empty()) {
      known->second = value;
    }
  }
}

// Returns the outcome and the exit code as text, so that two verdicts can be
// compared.
std::string OutcomeOf(const std::optional<RecordedVerdict>& verdict) {
  if (!verdict.has_value()) return "none";
  return absl::StrCat(verdict->outcome, ", exit code ", verdict->exit_code);
}

// Returns the differences between the record and the newest state in the event
// log; empty: none.
std::string Differences(const RunReport& report, const ReportRecord& record) {
  std::vector<std::string> all;
  const int round = report.rounds.empty() ? 0 : report.rounds.back().number;
  const auto add = [&](const char* what, const auto& journal, const auto& log) {
    all.push_back(absl::StrCat(what, " (", journal, " in the journal, ", log,
                               " in the log)"));
  };
  if (round != record.round) add("the round", record.round, round);
  if (report.restarts_used.value_or(record.restarts_used) !=
      record.restarts_used) {
    add("the restarts used", record.restarts_used, *report.restarts_used);
  }
  // The event log has a verdict only if it has events of the kind "state".
  // Without a verdict, the end of the job is known from the decision "finish".
  const bool is_over_in_log =
      report.verdict.has_value() || !report.finish_reason.empty();
  if (is_over_in_log != record.verdict.has_value() ||
      (report.verdict.has_value() &&
       OutcomeOf(report.verdict) != OutcomeOf(record.verdict))) {
    add("the verdict", OutcomeOf(record.verdict),
        report.verdict.has_value() || !is_over_in_log
            ? OutcomeOf(report.verdict)
            : report.finish_reason);
  }
  return absl::StrJoin(all, ", ");
}

// Returns a sentence if the record and the event log are of different runs with
// the same id; empty: both are of the same run.
std::string OtherRun(const KeptJob& kept, const RunReport& report) {
  const std::string times = absl::StrCat("has the record of a run that began ",
                                         rendezvous::UtcText(BeganAt(kept)),
                                         ", and the event log is of a run ");
  if (BeganAt(kept) > report.last_time + kSameTimeS) {
    return absl::StrCat(
        "The journal is newer than the event log, and ", times,
        "whose newest event is of ", rendezvous::UtcText(report.last_time),
        ": this report is about the earlier run. For the later one, name the "
        "run id and --state-dir alone.");
  }
  const double began = report.began > 0 ? report.began : report.first_time;
  if (WrittenAt(kept) + kSameTimeS < began) {
    return absl::StrCat("The journal is older than the event log, and ", times,
                        "that began ", rendezvous::UtcText(began),
                        ": this report is about the later run.");
  }
  return "";
}

}  // namespace

RunReport ReportOf(const KeptJob& kept) {
  ReportBuilder builder;
  builder.Add(StateOf(kept));
  RunReport report = builder.Take();
  report.events = 0;
  report.first_time = BeganAt(kept);
  report.last_time = WrittenAt(kept);
  if (kept.job.verdict.has_value()) {
    report.last_time = BeganAt(kept) + ToSeconds(kept.job.verdict->lasted);
  } else if (report.time.has_value() && report.time->total_s() <= 0) {
    // The record of an unfinished job has only the times of nodes that have
    // left. Here no node has left, so the report has no times.
    report.time.reset();
  }
  AddRecord(kept, report);
  return report;
}

void AddRecord(const KeptJob& kept, RunReport& report) {
  const JobRecord& job = kept.job;
  const bool has_log = report.events > 0;
  if (has_log) {
    const std::string why = OtherRun(kept, report);
    if (!why.empty()) {
      report.missing.push_back(why);
      return;
    }
  }
  const RecordedEvent state = StateOf(kept);
  ReportRecord record{.written_at = WrittenAt(kept),
                      .phase = rendezvous::PhaseText(job.phase),
                      .reason = job.why,
                      .round = job.round,
                      .restarts_used = job.restarts_used,
                      .max_restarts = job.spec.max_restarts,
                      .run_tag = job.run_tag,
                      .owner = kept.owner.principal.empty()
                                   ? kept.owner.peer
                                   : kept.owner.principal,
                      .members = MembersOf(job),
                      .nodes_left = static_cast<int64_t>(job.past.size()),
                      .verdict = std::nullopt};
  if (state.state.has_value()) record.verdict = state.state->verdict;
  if (record.members.size() > RunReport::kMaxNodes) {
    record.members_omitted =
        static_cast<int64_t>(record.members.size() - RunReport::kMaxNodes);
    record.members.resize(RunReport::kMaxNodes);
  }
  record.is_newer = !has_log || record.written_at > report.last_time;
  if (has_log) {
    const std::string differences = Differences(report, record);
    record.comparison = absl::StrFormat(
        "The journal's record of %s is %.1f s %s than the newest event, ",
        rendezvous::UtcText(record.written_at),
        std::abs(record.written_at - report.last_time),
        record.is_newer ? "newer" : "older");
    if (differences.empty()) {
      absl::StrAppend(&record.comparison, "and agrees with the event log.");
    } else {
      absl::StrAppend(&record.comparison, "and they disagree about ",
                      differences, ". This report follows the ",
                      record.is_newer ? "journal." : "event log.");
      report.missing.push_back(record.comparison);
    }
  }
  if (record.is_newer) {
    report.newest_phase = record.phase;
    report.newest_reason = record.reason;
    report.restarts_used = record.restarts_used;
    report.max_restarts = record.max_restarts;
    if (has_log) report.last_time = record.written_at;
    AddRound(kept, report);
  }
  // A verdict never changes. So the record's verdict is used even if the record
  // is older than the newest event.
  const bool is_over =
      report.verdict.has_value() || !report.finish_reason.empty();
  if (record.verdict.has_value() && (record.is_newer || !is_over)) {
    report.verdict = record.verdict;
    report.time = state.state->time;
    report.time_as_of = record.written_at;
  }
  AddInterruptions(kept, report);
  if (state.state.has_value()) AddSettings(state.state->settings, report);
  report.record = std::move(record);
}

void AddMachines(const rendezvous::NodeMemory::Kept& memory,
                 RunReport& report) {
  std::set<std::string> hosts;
  for (const RecordedNode& node : report.node_times) hosts.insert(node.host);
  if (report.record.has_value()) {
    for (const ReportMember& member : report.record->members) {
      hosts.insert(member.host);
    }
  }
  // The time for which the states of the machines are computed: the newest time
  // at which a machine had a fault, or an operator banned or released a
  // machine. The journal does not contain the time at which it stored the
  // faults.
  Duration as_of = Duration::zero();
  for (const auto& host : memory.hosts) {
    as_of = std::max(as_of, host.ordered_at);
    for (const auto& fault : host.faults) as_of = std::max(as_of, fault.when);
  }
  rendezvous::NodeMemory restored;
  restored.Restore(memory);
  std::map<rendezvous::HostKey, const rendezvous::NodeMemory::Kept::Host*> kept;
  for (const auto& host : memory.hosts) kept.emplace(host.key, &host);
  for (const rendezvous::HostStatus& status : restored.List(as_of)) {
    ReportMachine machine{
        .host = status.key.host,
        .address = status.key.ip,
        .state = rendezvous::HostStateText(status.judgement.state),
        .score = status.judgement.score};
    const auto found = kept.find(status.key);
    if (found == kept.end()) continue;
    const rendezvous::NodeMemory::Kept::Host& host = *found->second;
    for (const auto& fault : host.faults) {
      if (fault.is_void) continue;
      if (fault.fault.run_id != report.run_id) {
        ++machine.faults_elsewhere;
        continue;
      }
      ++machine.faults;
      machine.newest_at = ToSeconds(fault.when);
      machine.newest = fault.fault.text;
    }
    const bool is_ordered =
        status.judgement.state == rendezvous::HostState::kBanned ||
        status.judgement.state == rendezvous::HostState::kFreed;
    if (is_ordered) machine.order = host.order;
    if (machine.faults == 0 && !hosts.contains(machine.host)) continue;
    if (report.machines.size() == RunReport::kMaxNotes) {
      ++report.machines_omitted;
      continue;
    }
    report.machines.push_back(std::move(machine));
  }
  report.machines_as_of = ToSeconds(as_of);
}

}  // namespace muster::launcher
