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

// Makes a network transport for a group. Errors call rank r ranks_in_errors[r].
using NetworkFactory =
    std::function<absl::StatusOr<std::unique_ptr<NetworkTransport>>(
        GroupPlace place, const std::vector<int>& ranks_in_errors,
        Instant deadline)>;

// TCP, with TcpOptions from the environment.
NetworkFactory TcpNetwork();

struct HierarchicalOptions {
  NetworkFactory network = TcpNetwork();
  SharedMemoryOptions shared_memory;
  // The name of this rank's host. Ranks with equal names use shared memory, so
  // they must be able to. Empty: HostIdentity().
  std::string host;
};

// Makes a transport that uses shared memory within a host and a network between
// hosts ("hierarchical"). all_reduce, reduce, broadcast and barrier cross the
// network once per host; all_gather and reduce_scatter do the same if each host
// has consecutive ranks. All other operations, messages included, go from rank
// to rank. Hosts may have different numbers of ranks. A group on one host gets
// the shared memory transport itself, and a group with one rank per host gets
// the network transport itself.
//
// Collective: every rank of `place`'s group calls it. Allocate returns shared
// memory if every host has several ranks, else Unimplemented.
absl::StatusOr<std::unique_ptr<Transport>> NewHierarchicalTransport(
    GroupPlace place, const HierarchicalOptions& options, Instant deadline);

// Gloo, with GlooOptions from the environment, for
// HierarchicalOptions::network. In a file of its own because it links libgloo.
NetworkFactory GlooNetwork();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_HIERARCHICAL_HIERARCHICAL_TRANSPORT_H_
