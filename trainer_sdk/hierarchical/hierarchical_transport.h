#ifndef MUSTER_TRAINER_SDK_HIERARCHICAL_HIERARCHICAL_TRANSPORT_H_
#define MUSTER_TRAINER_SDK_HIERARCHICAL_HIERARCHICAL_TRANSPORT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/network/network_transport.h"
#include "trainer_sdk/process_group/transport.h"
#include "trainer_sdk/shared_memory/shared_memory_transport.h"

namespace muster {

// Makes a network's transport for a group; its errors tell of rank r as rank
// told_as[r].
using NetworkFactory =
    std::function<absl::StatusOr<std::unique_ptr<NetworkTransport>>(
        GroupPlace place, const std::vector<int>& told_as, Instant deadline)>;

// TCP, from TcpOptions as the environment gives them.
NetworkFactory TcpNetwork();

struct HierarchicalOptions {
  NetworkFactory network = TcpNetwork();
  SharedMemoryOptions shared_memory;
  // Ranks with equal names share memory; they must be able to. Empty: what
  // HostIdentity says.
  std::string host;
};

// Shared memory within a host, a network between hosts ("hierarchical").
// all_reduce, reduce, broadcast and barrier cross the network once for a host,
// all_gather and reduce_scatter do so where a host's ranks follow one another;
// everything else, messages too, goes from rank to rank. Any number of ranks
// on any host. A group on one host gets the shared memory's transport itself, a
// group of hosts with one rank each the network's.
//
// Collective: every rank of `place`'s group calls it. Allocate is the shared
// memory's where every host has several ranks, else Unimplemented.
absl::StatusOr<std::unique_ptr<Transport>> NewHierarchicalTransport(
    GroupPlace place, const HierarchicalOptions& options, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_HIERARCHICAL_HIERARCHICAL_TRANSPORT_H_
