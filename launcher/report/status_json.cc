#include "launcher/report/status_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "launcher/report/phase_text.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::launcher {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

// JSON has no NaN or infinity: they become strings. null would look like a rank
// that has no loss.
Json Number(const std::optional<double>& value) {
  if (!value || std::isfinite(*value)) return OrNull(value);
  if (std::isnan(*value)) return "nan";
  return *value > 0 ? "inf" : "-inf";
}

Json ToJson(const rendezvous::WorkerProgress& said,
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
      {"deadline_seconds", watched ? Json(ToSeconds(said.deadline)) : Json()}};
}

// `first_rank`: the rank of the node's first worker; nullopt for a spare node.
Json ToJson(const rendezvous::NodeStatus& status,
            std::optional<int> first_rank) {
  const rendezvous::NodeIdentity& node = status.node;
  Json progress = Json::array();
  for (const rendezvous::WorkerProgress& said : status.progress) {
    progress.push_back(ToJson(said, first_rank));
  }
  return {{"node_id", node.node_id},
          {"host", node.host},
          {"address", node.address},
          {"pid", node.pid},
          // A string, since numbers in JSON readers are often limited to 53
          // bits.
          {"incarnation", std::to_string(node.incarnation)},
          {"role", node.role},
          {"slots", node.slots},
          {"topology", node.topology},
          {"binding", node.binding},
          {"group_rank", OrNull(status.group_rank)},
          {"phase", PhaseText(status.phase)},
          {"round", status.round},
          {"connected", status.connected},
          {"draining", status.draining},
          {"health", HealthText(status.health)},
          {"unhealthy", status.health == rendezvous::Health::kUnhealthy
                            ? Json(status.unhealthy)
                            : Json()},
          {"silent_seconds", ToSeconds(status.silent_for)},
          {"progress", progress}};
}

Json ToJson(const rendezvous::Verdict& verdict) {
  Json json = {{"outcome", OutcomeText(verdict.outcome)},
               {"exit_code", verdict.exit_code},
               {"reason", verdict.reason},
               {"restarts_used", verdict.restarts_used},
               {"rounds", verdict.rounds},
               {"seconds", ToSeconds(verdict.lasted)}};
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

Json ToJson(const rendezvous::PreemptionNotice& notice) {
  return {{"signal", rendezvous::SignalName(notice.signal)},
          {"host", notice.host},
          {"seconds_left", ToSeconds(notice.left)}};
}

Json ToJson(const rendezvous::JobStatus& job) {
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
      {"verdict", job.verdict ? ToJson(*job.verdict) : Json()}};
  json["nodes"] = Json::array();
  int first_rank = 0;  // nodes are in the order of their group rank
  for (const rendezvous::NodeStatus& node : job.nodes) {
    json["nodes"].push_back(ToJson(
        node, node.group_rank ? std::optional(first_rank) : std::nullopt));
    if (node.group_rank) first_rank += node.node.slots;
  }
  return json;
}

// Names of hosts and nodes may be invalid UTF-8; the invalid bytes are replaced
// instead of an exception thrown.
std::string Dump(const Json& json) {
  return json.dump(2, ' ', /*ensure_ascii=*/true,
                   Json::error_handler_t::replace) +
         "\n";
}

}  // namespace

std::string StatusJson(const rendezvous::JobStatus& job) {
  return Dump(ToJson(job));
}

std::string JobListJson(const std::vector<rendezvous::JobStatus>& jobs) {
  Json list = Json::array();
  for (const rendezvous::JobStatus& job : jobs) list.push_back(ToJson(job));
  return Dump(list);
}

}  // namespace muster::launcher
