#include "agent/metrics/agent_metrics.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/metrics/job_metrics.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::agent {
namespace {

using rendezvous::Exposition;
using rendezvous::Label;
using rendezvous::NodePhase;
using rendezvous::WorkerProgress;
using Type = Exposition::Type;

constexpr NodePhase kPhases[] = {NodePhase::kIdle, NodePhase::kRunning,
                                 NodePhase::kStopping, NodePhase::kSucceeded};

// A metric of workers. `name`, `help`: of the metric of each worker.
// `node_name`, `node_help`: of the metric of all workers of the node, whose
// value `together` computes from the workers' values (at least one).
struct WorkerGauge {
  const char* name;
  const char* help;
  const char* node_name;
  const char* node_help;
  double (*together)(const std::vector<double>& values);
  // Returns the sample's value; nullopt: the worker has no sample.
  std::optional<double> (*read)(const WorkerProgress& worker);
};

double Lowest(const std::vector<double>& values) {
  return *std::ranges::min_element(values);
}

double Highest(const std::vector<double>& values) {
  return *std::ranges::max_element(values);
}

double Sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double Mean(const std::vector<double>& values) {
  return Sum(values) / static_cast<double>(values.size());
}

constexpr WorkerGauge kWorkerGauges[] = {
    {"muster_worker_step", "Newest step that the worker has reported.",
     "muster_node_step",
     "Lowest step among the node's workers that report steps.", Lowest,
     [](const WorkerProgress& worker) -> std::optional<double> {
       if (!worker.step.has_value()) return std::nullopt;
       return static_cast<double>(*worker.step);
     }},
    {"muster_worker_loss", "Newest loss that the worker has reported.",
     "muster_node_loss", "Mean of the newest losses of the node's workers.",
     Mean, [](const WorkerProgress& worker) { return worker.loss; }},
    {"muster_worker_tokens_per_second",
     "Newest throughput that the worker has reported.",
     "muster_node_tokens_per_second",
     "Sum over the node's workers that report it.", Sum,
     [](const WorkerProgress& worker) { return worker.tokens_per_s; }},
    {"muster_worker_silence_seconds",
     "Time since the worker's last progress report.",
     "muster_node_worker_silence_seconds",
     "Longest time since the last progress report of a worker of the node.",
     Highest,
     [](const WorkerProgress& worker) -> std::optional<double> {
       return ToSeconds(worker.silent_for);
     }},
};

void AddGauge(const char* name, const char* help, double value,
              Exposition& page) {
  page.Family(name, Type::kGauge, help);
  page.Sample({}, value);
}

void AddCounter(const char* name, const char* help, int64_t value,
                Exposition& page) {
  page.Family(name, Type::kCounter, help);
  page.Sample({}, static_cast<double>(value));
}

void AddTogether(const WorkerGauge& gauge,
                 const std::vector<WorkerProgress>& workers, Exposition& page) {
  page.Family(gauge.node_name, Type::kGauge, gauge.node_help);
  std::vector<double> values;
  for (const WorkerProgress& worker : workers) {
    const std::optional<double> value = gauge.read(worker);
    if (value.has_value()) values.push_back(*value);
  }
  if (!values.empty()) page.Sample({}, gauge.together(values));
}

void AddEach(const WorkerGauge& gauge,
             const std::vector<WorkerProgress>& workers, Exposition& page) {
  page.Family(gauge.name, Type::kGauge, gauge.help);
  for (const WorkerProgress& worker : workers) {
    const std::optional<double> value = gauge.read(worker);
    const Label one[] = {{"local_rank", std::to_string(worker.local_rank)}};
    if (value.has_value()) page.Sample(one, *value);
  }
}

void AddStore(const store::StoreLoad& load, Exposition& page) {
  AddCounter("muster_store_requests_total",
             "Requests that the workers' store has handled on this node.",
             load.requests, page);
  AddGauge("muster_store_connections",
           "Open connections of the workers' store; a relay has one.",
           static_cast<double>(load.connections), page);
  AddGauge("muster_store_waiting_clients",
           "Clients of the workers' store that wait for keys or at barriers.",
           static_cast<double>(load.waiting), page);
  AddGauge("muster_store_keys", "Keys in the workers' store.",
           static_cast<double>(load.keys), page);
  AddGauge("muster_store_memory_bytes",
           "Memory that the workers' store uses for keys, values and waits.",
           static_cast<double>(load.bytes), page);
}

}  // namespace

void AddNodeMetrics(const NodeNames& names, const AgentState& state,
                    const LogAccount::Sums& logs, WorkerSeries workers,
                    rendezvous::Exposition& page) {
  page.Family("muster_node_info", Type::kGauge,
              "1; the labels tell the job and the node.");
  const Label labels[] = {
      {"job", names.run_id}, {"node", names.node_id}, {"host", names.host}};
  page.Sample(labels, 1);
  page.Family("muster_node_phase", Type::kGauge,
              "1 for the phase that the node is in, 0 for the others.");
  for (const NodePhase phase : kPhases) {
    const Label one[] = {{"phase", rendezvous::PhaseText(phase)}};
    page.Sample(one, state.phase == phase ? 1 : 0);
  }
  AddGauge("muster_node_round", "Newest round that the node has run; 0: none.",
           state.round, page);
  AddGauge("muster_node_connected",
           "1 while the node is connected to the coordinator, else 0.",
           state.connected ? 1 : 0, page);
  AddGauge("muster_node_healthy",
           "1 unless a health check has failed or is still to come.",
           state.health == rendezvous::Health::kHealthy ? 1 : 0, page);
  page.Family(
      "muster_node_time_seconds_total", Type::kCounter,
      "Time by activity since the agent's start; each instant has one.");
  std::array<double, rendezvous::kActivities> seconds = {};
  for (size_t i = 0; i < seconds.size(); ++i) {
    seconds[i] = ToSeconds(state.time.spent[i]);
  }
  rendezvous::AddActivitySamples({}, seconds, page);
  for (const WorkerGauge& gauge : kWorkerGauges) {
    AddTogether(gauge, state.progress, page);
    if (workers == WorkerSeries::kEach) AddEach(gauge, state.progress, page);
  }
  AddCounter("muster_node_output_bytes_total",
             "Bytes that the workers have written to stdout and stderr.",
             state.output.written, page);
  AddCounter("muster_node_console_bytes_missing_total",
             "Bytes of output that did not reach the console.",
             state.output.console_missing, page);
  AddCounter("muster_node_follower_bytes_skipped_total",
             "Bytes of output that readers who follow it have missed.",
             state.output.follower_skipped, page);
  AddCounter("muster_node_log_bytes_lost_total",
             "Bytes of workers' output that could not be written to log files.",
             logs.lost, page);
  AddCounter("muster_node_log_bytes_rotated_out_total",
             "Bytes of workers' output that rotation has deleted.",
             logs.dropped, page);
  if (state.store.has_value()) AddStore(*state.store, page);
}

}  // namespace muster::agent
