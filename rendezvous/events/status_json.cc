#include "rendezvous/events/status_json.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "rendezvous/events/shown_command.h"
#include "rendezvous/protocol/signal_names.h"
#include "rendezvous/version.h"

namespace muster::rendezvous {

namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

// Converts NaN and infinity to the strings "nan", "inf" and "-inf", because
// JSON has no such numbers. null means that the rank reports no value.
Json Number(const std::optional<double>& value) {
  if (!value || std::isfinite(*value)) return OrNull(value);
  if (std::isnan(*value)) return "nan";
  return *value > 0 ? "inf" : "-inf";
}

Json ToJson(const WorkerTimes& times) {
  return {{"work", ToSeconds(times.work)},
          {"data", ToSeconds(times.data)},
          {"collectives", ToSeconds(times.collectives)}};
}

// The wait for later ranks, and the transfer; null: the time in collectives was
// not divided yet.
Json DivisionOf(const WorkerTimes& times) {
  if (times.wait + times.transfer == Duration::zero()) return Json();
  return {{"wait", ToSeconds(times.wait)},
          {"transfer", ToSeconds(times.transfer)}};
}

// `times`: how the worker has spent its time; null: it has measured nothing.
Json ToJson(const WorkerProgress& said, const WorkerTimes* times,
            std::optional<int> first_rank) {
  const bool watched = said.deadline > Duration::zero();
  return {
      {"rank", first_rank ? Json(*first_rank + said.local_rank) : Json()},
      {"local_rank", said.local_rank},
      {"step", OrNull(said.step)},
      {"loss", Number(said.loss)},
      {"tokens_per_s", Number(said.tokens_per_s)},
      {"status", said.status},
      {"silent_seconds", ToSeconds(said.silent_for)},
      {"deadline_seconds", watched ? Json(ToSeconds(said.deadline)) : Json()},
      {"seconds", times != nullptr ? ToJson(*times) : Json()},
      {"collectives_seconds", times != nullptr ? DivisionOf(*times) : Json()}};
}

Json ToJson(const JobTime::HostLosses& losses) {
  const JobTime::Sum total = losses.total();
  Json json = {{"host", losses.host},
               {"count", total.incidents},
               {"lost_seconds", total.pause_s},
               {"causes", Json::object()}};
  for (size_t i = 0; i < kLossCauses; ++i) {
    const JobTime::Sum& sum = losses.by_cause[i];
    if (sum.incidents == 0) continue;
    json["causes"][NameOf(static_cast<LossCause>(i))] = {
        {"count", sum.incidents}, {"lost_seconds", sum.pause_s}};
  }
  return json;
}

Json ToJson(const JobTime& time) {
  Json json = {{"productive_ratio", time.ratio()},
               {"node_seconds", Json::object()},
               {"interruptions", Json::object()},
               {"by_node", Json::array()},
               {"other_nodes", Json::object()},
               {"newest_interruptions", Json::array()}};
  for (size_t i = 0; i < kActivities; ++i) {
    json["node_seconds"][NameOf(static_cast<Activity>(i))] = time.spent_s[i];
  }
  for (size_t i = 0; i < kLossCauses; ++i) {
    json["interruptions"][NameOf(static_cast<LossCause>(i))] = {
        {"count", time.by_cause[i].incidents},
        {"lost_seconds", time.by_cause[i].pause_s}};
  }
  for (const JobTime::HostLosses& losses : time.by_host) {
    json["by_node"].push_back(ToJson(losses));
  }
  const JobTime::Sum others = time.other_hosts();
  json["other_nodes"] = {{"count", others.incidents},
                         {"lost_seconds", others.pause_s}};
  for (const Incident& incident : time.newest) {
    json["newest_interruptions"].push_back(
        {{"round", incident.round},
         {"cause", NameOf(incident.cause)},
         {"host", incident.host},
         {"reason", incident.why},
         {"lost_seconds", incident.pause_s()},
         {"lost_node_seconds", incident.lost_s}});
  }
  return json;
}

Json ToJson(const TimeLedger& ledger) {
  Json json = Json::object();
  for (size_t i = 0; i < kActivities; ++i) {
    json[NameOf(static_cast<Activity>(i))] = ToSeconds(ledger.spent[i]);
  }
  return json;
}

// Returns the judgement of a machine as JSON; null: the machine is healthy and
// no faults count against it, or an operator has declared its faults void
// (kFreed).
Json ToJson(const HostJudgement& judgement) {
  const bool has_faults =
      judgement.state == HostState::kHealthy && judgement.score > 0;
  if (!has_faults && (judgement.state == HostState::kHealthy ||
                      judgement.state == HostState::kFreed)) {
    return Json();
  }
  return {{"state", HostStateText(judgement.state)},
          {"score", judgement.score},
          {"reason", judgement.reason}};
}

// `first_rank`: the rank of the node's first worker; nullopt for a spare node.
Json ToJson(const NodeStatus& status, std::optional<int> first_rank) {
  const NodeIdentity& node = status.node;
  std::map<int, const WorkerTimes*> times;
  for (const WorkerTimes& one : status.times) times[one.local_rank] = &one;
  Json progress = Json::array();
  for (const WorkerProgress& said : status.progress) {
    const auto found = times.find(said.local_rank);
    progress.push_back(ToJson(
        said, found == times.end() ? nullptr : found->second, first_rank));
  }
  return {
      {"node_id", node.node_id},
      {"host", node.host},
      {"address", node.address},
      {"pid", node.pid},
      // As a string, because many JSON readers limit numbers to 53 bits.
      {"incarnation", std::to_string(node.incarnation)},
      {"role", node.role},
      {"slots", node.slots},
      {"topology", node.topology},
      {"binding", node.binding},
      {"gpus", node.gpus},
      {"group_rank", OrNull(status.group_rank)},
      {"phase", PhaseText(status.phase)},
      {"round", status.round},
      {"connected", status.connected},
      {"draining", status.draining},
      {"health", HealthText(status.health)},
      {"unhealthy",
       status.health == Health::kUnhealthy ? Json(status.unhealthy) : Json()},
      {"judgement", ToJson(status.judgement)},
      {"silent_seconds", ToSeconds(status.silent_for)},
      {"seconds", ToJson(status.time.ledger)},
      {"progress", progress}};
}

Json ToJson(const Verdict& verdict) {
  Json json = {{"outcome", OutcomeText(verdict.outcome)},
               {"exit_code", verdict.exit_code},
               {"reason", verdict.reason},
               {"restarts_used", verdict.restarts_used},
               {"rounds", verdict.rounds},
               {"seconds", ToSeconds(verdict.lasted)},
               {"time", ToJson(verdict.time)}};
  if (verdict.cause) {
    json["cause"] = {{"host", verdict.cause->host},
                     {"node_id", verdict.cause->node_id},
                     {"rank", verdict.cause->rank},
                     {"local_rank", verdict.cause->local_rank},
                     {"pid", verdict.cause->pid},
                     {"exit_code", verdict.cause->exit_code},
                     {"signal", verdict.cause->signal},
                     {"message", verdict.cause->message},
                     {"stack", verdict.cause->stack}};
  }
  return json;
}

Json ToJson(const PreemptionNotice& notice) {
  return {{"signal", SignalName(notice.signal)},
          {"host", notice.host},
          {"seconds_left", ToSeconds(notice.left)}};
}

Json ToJson(const std::vector<SlowRank>& ranks) {
  Json json = Json::array();
  for (const SlowRank& slow : ranks) {
    json.push_back({{"rank", slow.rank},
                    {"node_id", slow.node_id},
                    {"host", slow.host},
                    {"local_rank", slow.local_rank},
                    {"gpu", slow.gpu.empty() ? Json() : Json(slow.gpu)},
                    {"phase", PhaseText(slow.phase)},
                    {"ratio", Number(slow.ratio)},
                    {"max_gain", Number(slow.max_gain)},
                    {"persistent", slow.is_persistent}});
  }
  return json;
}

Json ToJson(const JobStatus& job) {
  Json json = {
      {"run_id", job.run_id},
      {"phase", PhaseText(job.phase)},
      {"reason", job.reason},
      {"round", job.round},
      {"world_size", job.world_size},
      {"min_nodes", job.spec.min_nodes},
      {"max_nodes", job.spec.max_nodes},
      {"restarts_used", job.restarts_used},
      {"max_restarts", job.spec.max_restarts},
      {"master_address", job.master_address},
      {"master_port", job.master_port},
      {"age_seconds", ToSeconds(job.age)},
      {"phase_age_seconds", ToSeconds(job.phase_age)},
      {"preemption", job.preemption ? ToJson(*job.preemption) : Json()},
      {"time", ToJson(job.time)},
      {"verdict", job.verdict ? ToJson(*job.verdict) : Json()}};
  json["slow_ranks"] = ToJson(job.slow_ranks);
  json["slow_ranks_gain"] = Number(job.slow_ranks_gain);
  if (!job.not_durable.empty()) {
    json["not_durable"] = {{"reason", job.not_durable},
                           {"seconds", ToSeconds(job.not_durable_for)}};
  }
  json["nodes"] = Json::array();
  // Global rank of the first worker of `node`. Nodes are in the order of their
  // group rank.
  int first_rank = 0;
  for (const NodeStatus& node : job.nodes) {
    json["nodes"].push_back(ToJson(
        node, node.group_rank ? std::optional(first_rank) : std::nullopt));
    if (node.group_rank) first_rank += node.node.slots;
  }
  return json;
}

// Returns the progress of all ranks together as JSON (see ProgressSummary);
// null: no rank has reported progress.
Json ProgressJson(const JobStatus& job) {
  const ProgressSummary progress = Summarize(RanksOf(job));
  if (progress.reporting == 0) return Json();
  return {{"ranks", progress.reporting},
          {"least_step", OrNull(progress.least_step)},
          {"max_step", OrNull(progress.max_step)},
          {"slowest_rank", progress.slowest_rank},
          {"loss", Number(progress.loss)},
          {"tokens_per_s", progress.tokens_per_s}};
}

Json StateNodesJson(const JobStatus& job) {
  Json nodes = Json::array();
  int first_rank = 0;
  for (const NodeStatus& status : job.nodes) {
    if (nodes.size() == kMaxStateNodes) break;
    const bool has_rank = status.group_rank.has_value();
    nodes.push_back({{"node_id", status.node.node_id},
                     {"host", status.node.host},
                     {"group_rank", OrNull(status.group_rank)},
                     {"first_rank", has_rank ? Json(first_rank) : Json()},
                     {"slots", status.node.slots},
                     {"unhealthy", status.health == Health::kUnhealthy
                                       ? Json(status.unhealthy)
                                       : Json()},
                     {"seconds", ToJson(status.time.ledger)}});
    if (has_rank) first_rank += status.node.slots;
  }
  return nodes;
}

Json SettingsJson(const JobSpec& spec) {
  return {
      {"version", kVersion},
      {"command", ShownCommand(spec.command)},
      {"min_nodes", spec.min_nodes},
      {"max_nodes", spec.max_nodes},
      {"max_restarts", spec.max_restarts},
      {"join_timeout_seconds", ToSeconds(spec.join_timeout)},
      {"rejoin_timeout_seconds", ToSeconds(spec.rejoin_timeout)},
      {"lease_seconds", ToSeconds(spec.lease())},
      {"shutdown_timeout_seconds", ToSeconds(spec.shutdown_timeout)},
      {"scale_up", spec.scale_up == ScaleUp::kRestart ? "restart" : "never"},
      {"worker_store", spec.store_host == StoreHost::kWorker},
      {"encrypt_workers", spec.encryption == Encryption::kWorkers},
      {"evict_stragglers", spec.evict_stragglers}};
}

const char* KindText(FailureKind kind) {
  switch (kind) {
    case FailureKind::kExitCode:
      return "exit code";
    case FailureKind::kSignal:
      return "signal";
    case FailureKind::kStartFailed:
      return "start failed";
    case FailureKind::kStoppedByUs:
      return "stopped";
    case FailureKind::kNodeLost:
      return "node lost";
    case FailureKind::kHung:
      return "hung";
  }
  return "unknown";
}

// Values of Dump's parameter `indent`. kIndent: the number of blanks for each
// level of the JSON text. kOneLine: the text has no line breaks.
constexpr int kIndent = 2;
constexpr int kOneLine = -1;

// Names of hosts and nodes may be invalid UTF-8. The invalid bytes are
// replaced, because the JSON library would otherwise throw an exception.
std::string Dump(const Json& json, int indent) {
  return json.dump(indent, ' ', /*ensure_ascii=*/true,
                   Json::error_handler_t::replace);
}

}  // namespace

std::string StatusJson(const JobStatus& job) {
  return Dump(ToJson(job), kIndent) + "\n";
}

std::string StatusJsonLine(const JobStatus& job) {
  return Dump(ToJson(job), kOneLine);
}

std::string JobListJson(const std::vector<JobStatus>& jobs) {
  Json list = Json::array();
  for (const JobStatus& job : jobs) list.push_back(ToJson(job));
  return Dump(list, kIndent) + "\n";
}

std::string HostListJson(const std::vector<HostStatus>& hosts) {
  Json list = Json::array();
  for (const HostStatus& host : hosts) {
    list.push_back(
        {{"node", host.key.host},
         {"address", host.key.ip.empty() ? Json() : Json(host.key.ip)},
         {"state", HostStateText(host.judgement.state)},
         {"score", host.judgement.score},
         {"faults", host.faults},
         {"age_seconds", ToSeconds(host.age)},
         {"run_id", host.run_id.empty() ? Json() : Json(host.run_id)},
         {"reason", host.judgement.reason}});
  }
  return Dump(list, kIndent) + "\n";
}

std::string StateJson(const JobStatus& job, StateDetail detail) {
  Json json = {{"phase", PhaseText(job.phase)},
               {"age_seconds", ToSeconds(job.age)},
               {"phase_age_seconds", ToSeconds(job.phase_age)},
               {"world_size", job.world_size},
               {"restarts_used", job.restarts_used},
               {"max_restarts", job.spec.max_restarts},
               {"progress", ProgressJson(job)},
               {"time", ToJson(job.time)},
               {"slow_ranks", ToJson(job.slow_ranks)},
               {"verdict", job.verdict ? ToJson(*job.verdict) : Json()}};
  if (detail == StateDetail::kNodes) {
    json["settings"] = SettingsJson(job.spec);
    json["nodes"] = StateNodesJson(job);
    json["nodes_omitted"] = job.nodes.size() - json["nodes"].size();
  }
  return Dump(json, kOneLine);
}

std::string FailureJson(const Failure& failure) {
  return Dump({{"kind", KindText(failure.kind)},
               {"host", failure.host},
               {"node_id", failure.node_id},
               {"group_rank", failure.group_rank},
               {"rank", failure.rank},
               {"local_rank", failure.local_rank},
               {"pid", failure.pid},
               {"exit_code", failure.exit_code},
               {"signal", failure.signal},
               {"unix_time", failure.unix_time},
               {"message", failure.message},
               {"error_file", failure.error_file},
               {"traceback", failure.traceback},
               {"stderr_tail", failure.stderr_tail},
               {"stack", failure.stack}},
              kOneLine);
}

}  // namespace muster::rendezvous
