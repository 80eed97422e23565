#ifndef MUSTER_AGENT_HEALTH_HEALTH_OPTIONS_H_
#define MUSTER_AGENT_HEALTH_HEALTH_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::agent {

// The options about a node's health: the checks that the node must pass before
// each round, and the addresses and files of its probes, metrics and dashboard.
struct HealthOptions {
  std::string command;  // health check of the user, run by `sh -c`; empty: none
  // health checks of Muster: gpu, disk, memory, shm
  std::vector<std::string> checks;
  Duration timeout = std::chrono::seconds(60);
  Duration interval = std::chrono::seconds(30);
  // Addresses at which HTTP servers listen; nullopt: no server. The server at
  // probe_listen answers the probes, the server at metrics_listen both the
  // metrics and the probes.
  std::optional<rendezvous::Endpoint> probe_listen;
  std::optional<rendezvous::Endpoint> metrics_listen;
  // The file for node_exporter's textfile collector; empty: none.
  std::string metrics_textfile;
  // Whether each worker has metrics of its own.
  bool metrics_ranks = false;
  // The folder of the files that tell dcgm-exporter the job of each GPU
  // (agent/gpus/job_files.h); empty: none.
  std::string job_mapping_dir;
  // Address of the dashboard; nullopt: none.
  std::optional<rendezvous::Endpoint> dashboard_listen;
  int gpus_needed = 0;  // GPUs that this node's workers need; 0: unknown

  bool Asked() const { return !command.empty() || !checks.empty(); }

  bool operator==(const HealthOptions&) const = default;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_HEALTH_OPTIONS_H_
