#include "launcher/run_report/run_report.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"

namespace muster::launcher {
namespace {

constexpr size_t kMaxIncidents = 2 * RunReport::kMaxRounds;

// Bounds the length of a list. If the list is more than a quarter longer than
// `most`, drops the oldest elements until `most` are left. Returns the number
// of dropped elements. Many are dropped at once, so the amortised cost of an
// append is constant.
template <typename T>
int64_t DropOldest(std::vector<T>& list, size_t most) {
  if (list.size() <= most + most / 4) return 0;
  const size_t excess = list.size() - most;
  list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(excess));
  return static_cast<int64_t>(excess);
}

// Whether events of the kind `kind` become entries of RunReport::health.
bool IsAboutHealth(const std::string& kind) {
  return kind == "unhealthy" || kind == "healthy" || kind == "fault" ||
         kind == "suspect" || kind == "quarantine" || kind == "ban" ||
         kind == "free";
}

std::vector<ReportInterruption> InterruptionsOf(
    const RunReport& report,
    const std::map<int, rendezvous::Incident>& incidents) {
  std::vector<ReportInterruption> all;
  std::optional<int64_t> reached;
  for (size_t i = 0; i < report.rounds.size(); ++i) {
    const ReportRound& round = report.rounds[i];
    if (round.max_step && (!reached || *round.max_step > *reached)) {
      reached = round.max_step;
    }
    const bool has_next = i + 1 < report.rounds.size();
    const auto incident = incidents.find(round.number);
    const bool is_broken = round.ended_by == ReportRound::End::kBroken;
    // Skip a round that did not break. Also skip a broken round that has no
    // incident, no next round and no cause: this is the last round of a
    // cancelled job, and no time was lost.
    if (!is_broken || (incident == incidents.end() && !has_next &&
                       !round.cause.has_value())) {
      continue;
    }
    ReportInterruption one{.round = round.number,
                           .time = round.end,
                           .why = round.why,
                           .failure = round.cause,
                           .incident = std::nullopt,
                           .repeated_steps = std::nullopt};
    if (incident != incidents.end()) {
      one.incident = incident->second;
      if (!incident->second.why.empty()) one.why = incident->second.why;
    }
    if (has_next) {
      const ReportRound& next = report.rounds[i + 1];
      one.next_round = next.begin;
      if (reached && next.first_step) {
        one.repeated_steps =
            std::max<int64_t>(0, *reached - *next.first_step + 1);
      }
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

ReportRound* ReportBuilder::Current() {
  return report_.rounds.empty() ? nullptr : &report_.rounds.back();
}

void ReportBuilder::Add(const RecordedEvent& event) {
  const bool is_over = !report_.finish_reason.empty();
  const bool begins = event.kind == "join" || event.kind == "assign";
  const int newest = Current() == nullptr ? 0 : Current()->number;
  if (is_over && begins && event.round <= std::min(newest, 1)) {
    const int earlier = earlier_runs_ + 1;
    *this = ReportBuilder();
    earlier_runs_ = earlier;
  }
  report_.run_id = event.run_id;
  ++report_.events;
  if (report_.first_time == 0) report_.first_time = event.time;
  report_.last_time = std::max(report_.last_time, event.time);
  if (event.state.has_value()) {
    AddState(event, *event.state);
    return;
  }
  ReportNote note{.time = event.time,
                  .round = event.round,
                  .kind = event.kind,
                  .node = event.node,
                  .reason = event.reason};
  if (IsAboutHealth(event.kind)) {
    report_.health.push_back(note);
    DropOldest(report_.health, RunReport::kMaxNotes);
  } else if (event.kind == "straggler") {
    report_.stragglers.push_back(note);
    DropOldest(report_.stragglers, RunReport::kMaxNotes);
  }
  report_.notes.push_back(std::move(note));
  report_.notes_dropped += DropOldest(report_.notes, RunReport::kMaxNotes);
  if (event.kind == "assign") {
    Begin(event);
  } else if (event.kind == "break") {
    Break(event);
  } else if (event.kind == "blame") {
    ReportRound* const round = Current();
    if (round != nullptr && round->number == event.round) {
      round->cause = event.failure;
      round->why = event.reason;
    }
  } else if (event.kind == "finish") {
    report_.finish_reason = event.reason.empty() ? "ended" : event.reason;
    ReportRound* const round = Current();
    if (round != nullptr && round->ended_by == ReportRound::End::kUnknown) {
      round->end = event.time;
      round->ended_by = ReportRound::End::kFinished;
      round->why = event.reason;
    }
  }
}

void ReportBuilder::Begin(const RecordedEvent& event) {
  report_.rounds.push_back({.number = event.round,
                            .begin = event.time,
                            .began_as = event.reason,
                            .cause = std::nullopt,
                            .max_step = std::nullopt,
                            .first_step = std::nullopt});
  report_.rounds_dropped += DropOldest(report_.rounds, RunReport::kMaxRounds);
}

void ReportBuilder::Break(const RecordedEvent& event) {
  ReportRound* round = Current();
  if (round == nullptr || round->number != event.round) {
    // The log does not show how the broken round began, because the log was
    // rotated or the round began under another coordinator. So add the round
    // here, without a description of its beginning.
    Begin(event);
    round = Current();
    round->began_as.clear();
  }
  round->end = event.time;
  round->ended_by = ReportRound::End::kBroken;
  round->why = event.reason;
  // Remove the prefix "round N is broken: ", because the table has a column for
  // the round.
  const std::string prefix =
      absl::StrCat("round ", event.round, " is broken: ");
  if (round->why.starts_with(prefix)) round->why.erase(0, prefix.size());
  round->cause = event.failure;
}

void ReportBuilder::AddState(const RecordedEvent& event,
                             const RecordedState& state) {
  report_.newest_phase = state.phase;
  report_.newest_reason = event.reason;
  report_.slow_ranks = state.slow_ranks;
  report_.began = event.time - state.age_s;
  report_.restarts_used = state.restarts_used;
  report_.max_restarts = state.max_restarts;
  if (state.world_size > 0) report_.workers = state.world_size;
  if (state.verdict.has_value()) report_.verdict = state.verdict;
  report_.time = state.time;
  report_.time_as_of = event.time;
  for (const rendezvous::Incident& incident : state.time.newest) {
    incidents_[incident.round] = incident;
    if (incidents_.size() > kMaxIncidents) incidents_.erase(incidents_.begin());
  }
  if (!state.settings.empty()) report_.settings = state.settings;
  if (state.nodes.has_value()) {
    // The event lists only the nodes that are in the job now. So first clear
    // the ranks of all nodes: a node that has left must have no rank. Its times
    // are kept.
    for (auto& [id, node] : nodes_) {
      node.group_rank.reset();
      node.first_rank.reset();
    }
    int members = 0;
    for (const RecordedNode& node : *state.nodes) {
      members += node.group_rank.has_value() ? 1 : 0;
      if (nodes_.size() < RunReport::kMaxNodes || nodes_.count(node.node_id)) {
        nodes_[node.node_id] = node;
      }
    }
    report_.nodes_omitted = state.nodes_omitted;
    if (members > 0) {
      report_.nodes = members + static_cast<int>(std::min<int64_t>(
                                    state.nodes_omitted, 1'000'000));
    }
  }
  if (state.progress.has_value()) AddSample(event, *state.progress);
}

void ReportBuilder::AddSample(const RecordedEvent& event,
                              const RecordedProgress& progress) {
  ReportRound* const round = Current();
  if (round != nullptr && round->number == event.round) {
    if (progress.max_step &&
        (!round->max_step || *progress.max_step > *round->max_step)) {
      round->max_step = progress.max_step;
    }
    if (!round->first_step) round->first_step = progress.least_step;
  }
  std::vector<ReportSample>& samples = report_.samples;
  if (!samples.empty() && samples.back().round == event.round &&
      event.time < samples.back().time + sample_distance_s_) {
    return;
  }
  if (samples.size() == RunReport::kMaxSamples) {
    // The list of samples is full: drop every second sample.
    for (size_t i = 0; i < RunReport::kMaxSamples / 2; ++i) {
      samples[i] = samples[2 * i];
    }
    samples.resize(RunReport::kMaxSamples / 2);
    sample_distance_s_ = std::max(2 * sample_distance_s_, 1.0);
  }
  samples.push_back({.time = event.time,
                     .round = event.round,
                     .step = progress.least_step,
                     .loss = progress.loss,
                     .tokens_per_s = progress.tokens_per_s});
}

RunReport ReportBuilder::Take() {
  report_.interruptions = InterruptionsOf(report_, incidents_);
  for (auto& [id, node] : nodes_) report_.node_times.push_back(node);
  std::ranges::stable_sort(
      report_.node_times, [](const RecordedNode& a, const RecordedNode& b) {
        constexpr int kLast = 1 << 30;
        return a.group_rank.value_or(kLast) < b.group_rank.value_or(kLast);
      });
  return std::move(report_);
}

std::string HostOfRank(const RunReport& report, int rank) {
  for (const RecordedNode& node : report.node_times) {
    if (node.first_rank && rank >= *node.first_rank &&
        rank - *node.first_rank < node.slots) {
      return node.host;
    }
  }
  return "";
}

std::vector<WantedOutput> WantedOutputs(const RunReport& report) {
  std::vector<WantedOutput> wanted;
  std::set<std::pair<int, int>> seen;
  for (auto it = report.interruptions.rbegin();
       it != report.interruptions.rend(); ++it) {
    if (!it->failure.has_value() || it->failure->rank < 0) continue;
    if (!seen.emplace(it->round, it->failure->rank).second) continue;
    wanted.push_back(
        {.round = it->round,
         .rank = it->failure->rank,
         .why = absl::StrCat("its failure ended round ", it->round),
         .host = it->failure->host});
    if (wanted.size() == kMaxWantedOutputs) return wanted;
  }
  const bool is_unexplained =
      wanted.empty() && !report.rounds.empty() &&
      !(report.verdict && report.verdict->outcome == "succeeded");
  if (!is_unexplained) return wanted;
  constexpr int kFirstRanks = 4;
  const int ranks =
      std::min(kFirstRanks, report.workers > 0 ? report.workers : kFirstRanks);
  for (int rank = 0; rank < ranks; ++rank) {
    wanted.push_back({.round = report.rounds.back().number,
                      .rank = rank,
                      .why = "no failed rank is in the event log",
                      .host = HostOfRank(report, rank)});
  }
  return wanted;
}

}  // namespace muster::launcher
