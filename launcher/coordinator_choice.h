#ifndef MUSTER_LAUNCHER_COORDINATOR_CHOICE_H_
#define MUSTER_LAUNCHER_COORDINATOR_CHOICE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/options/agent_plan.h"
#include "launcher/options/machine.h"
#include "launcher/options/run_options.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::launcher {

enum class CoordinatorPlace {
  kHere,        // This process hosts it; a port in use is an error.
  kHereIfFree,  // It hosts it if it can bind the port, else it connects: on
                // one machine the first agent hosts.
  kElsewhere,   // It connects.
};

// Where this node finds the coordinator.
struct CoordinatorChoice {
  CoordinatorPlace place = CoordinatorPlace::kElsewhere;
  // kHere, kHereIfFree: what to bind. "0.0.0.0" or "::" as host: every
  // interface; port 0: a free one.
  rendezvous::Endpoint listen;
  // What peers dial; port 0: the one that listening gives.
  rendezvous::Endpoint endpoint;
  // kHere, kHereIfFree: the address at which peers reach this node.
  std::string own_address;
  std::string reason;  // one clause, for messages: why here or elsewhere
};

// What is known of the endpoint's host before the choice.
struct ResolvedHost {
  std::vector<std::string> addresses;  // as text; empty: it does not resolve
};

// Decides where the job meets. A node is alone with --standalone, and if it is
// the only node and no endpoint is given. Its run id is then unique, unless
// --rdzv-id is given, and --master-port is the port of the workers' store,
// since there is no coordinator to which it could belong. Pure.
// InvalidArgument: options that contradict each other.
absl::StatusOr<Meeting> DecideMeeting(const RunOptions& options,
                                      const MachineFacts& facts);

// Chooses, by these rules: alone: here, on 127.0.0.1 and a free port. is_host
// commands or forbids. A static job: node rank 0 hosts; without --node-rank,
// the owner of the address. Else the owner of the address hosts. An owner is
// a node that has one of the addresses of the endpoint's host, or whose name
// is that host's where it does not resolve. Pure. Unavailable: the host does
// not resolve, and this node would have to connect to it.
absl::StatusOr<CoordinatorChoice> ChooseCoordinator(
    const Meeting& meeting, const RunOptions& options,
    const MachineFacts& facts, const ResolvedHost& resolved);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_COORDINATOR_CHOICE_H_
