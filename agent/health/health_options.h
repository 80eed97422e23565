#ifndef MUSTER_AGENT_HEALTH_HEALTH_OPTIONS_H_
#define MUSTER_AGENT_HEALTH_HEALTH_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::agent {

// What a node must pass before it takes part in a round.
struct HealthOptions {
  std::string command;              // for `sh -c`; empty: none
  std::vector<std::string> checks;  // built-in ones: gpu, disk, memory, shm
  Duration timeout = std::chrono::seconds(60);
  Duration interval = std::chrono::seconds(30);
  std::optional<rendezvous::Endpoint>
      probe_listen;     // where probes are answered
  int gpus_needed = 0;  // by this node's workers, by its plan; 0: not known

  bool Asked() const { return !command.empty() || !checks.empty(); }
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_HEALTH_OPTIONS_H_
