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
  // This process hosts the coordinator. It is an error if the port is in use.
  kHere,
  // This process hosts the coordinator if it can bind the port; otherwise it
  // connects to the coordinator. If several agents run on one machine, the
  // first agent that binds the port hosts the coordinator.
  kHereIfFree,
  kElsewhere,  // This process connects to a coordinator elsewhere.
};

// The decision whether this node hosts the coordinator, with the address that
// the coordinator then binds, and the addresses at which other processes
// connect to it.
struct CoordinatorChoice {
  CoordinatorPlace place = CoordinatorPlace::kElsewhere;
  // The address that the coordinator binds, if this process hosts it (kHere,
  // kHereIfFree). Host "0.0.0.0" or "::": every interface. Port 0: any free
  // port.
  rendezvous::Endpoint listen;
  // The addresses at which other processes connect to the coordinator; exactly
  // one if this node hosts the coordinator. Port 0 stands for the free port
  // that binding `listen` yields.
  std::vector<rendezvous::Endpoint> endpoints;
  // The endpoints of other nodes, one of which may have taken over as
  // coordinator. This node tries them if `endpoints` do not answer.
  std::vector<rendezvous::Endpoint> others;
  // kHere, kHereIfFree: the address at which peers reach this node.
  std::string own_address;
  // One clause for messages: why this node hosts the coordinator or connects to
  // one.
  std::string reason;
  // Whether another node takes over as coordinator if the coordinator is lost.
  // If so, every `launch` that does not host the coordinator runs a standby.
  bool is_taken_over = false;
};

// The addresses of the host that the endpoint names.
struct ResolvedHost {
  // IP addresses as text; empty: the name does not resolve
  std::vector<std::string> addresses;
};

// Decides the coordinator's endpoint, the run id and the store's port. A node
// is alone with --standalone, or if it is the only node and no endpoint is
// given (an endpoint with port 0 counts as none). Two rules hold for a lone
// node only:
// - With --standalone, or without --rdzv-id, the run id is a hash of the path
//   that --state-dir names or, without --state-dir, a new unique id.
// - --master-port is the port of the workers' store, since the coordinator of
//   a lone node does not use that port.
// Pure. InvalidArgument: the options contradict each other.
absl::StatusOr<Meeting> DecideMeeting(const RunOptions& options,
                                      const MachineFacts& facts);

// Chooses whether this node hosts the coordinator. The first rule that applies
// decides:
// - A lone node hosts the coordinator, on 127.0.0.1 and a free port.
// - If several endpoints are given and belong to rendezvousd daemons
//   (OwnersOfEndpoints), this node does not host the coordinator. If they
//   belong to nodes, the following rules hold for the first endpoint; the other
//   endpoints are those of nodes that may have taken over.
// - If is_host is given, in --rdzv-conf or by the cluster's defaults, its value
//   decides.
// - In a static job (--master-addr) whose nodes have a --node-rank, node rank 0
//   hosts the coordinator.
// - The machine that has one of the addresses of the endpoint's host hosts the
//   coordinator. If the name of the endpoint's host does not resolve, the
//   machine with this host name hosts the coordinator.
//
// `resolved`: the addresses of the first endpoint's host; not used for a lone
// node, nor if the endpoints belong to daemons.
//
// Pure. Unavailable: the host of the only endpoint does not resolve, and this
// node would have to connect to it.
//
// If the coordinator of a job of 3 nodes or more runs on a node, another node
// takes over when the coordinator is lost, unless --takeover=never is given.
absl::StatusOr<CoordinatorChoice> ChooseCoordinator(
    const Meeting& meeting, const RunOptions& options,
    const MachineFacts& facts, const ResolvedHost& resolved);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_COORDINATOR_CHOICE_H_
