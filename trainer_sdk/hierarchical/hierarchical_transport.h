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

// A function that makes a network transport for a group. Error messages call
// rank r of that group "rank ranks_in_errors[r]".
using NetworkFactory =
    std::function<absl::StatusOr<std::unique_ptr<NetworkTransport>>(
        GroupPlace place, const std::vector<int>& ranks_in_errors,
        Instant deadline)>;

// Makes TCP transports, with TcpOptions from the environment.
NetworkFactory TcpNetwork();

struct HierarchicalOptions {
  NetworkFactory network = TcpNetwork();
  SharedMemoryOptions shared_memory;
  // The identity of this rank's host. Ranks with equal identities communicate
  // through shared memory, so they must be able to share memory. Empty:
  // HostIdentity() is used.
  std::string host;
};

// Makes a transport that uses shared memory within a host and a network between
// hosts. Its name is "hierarchical". all_reduce, reduce, broadcast and barrier
// send each host's data over the network only once. all_gather and
// reduce_scatter do this only if the ranks of each host are consecutive. All
// other operations, including messages, go directly from rank to rank. Hosts
// may have different numbers of ranks. A group on one host gets the shared
// memory transport itself, and a group with one rank per host gets the network
// transport itself.
//
// Collective: every rank of `place`'s group calls it. The transport's Allocate
// returns shared memory if every host has several ranks, else Unimplemented.
absl::StatusOr<std::unique_ptr<Transport>> NewHierarchicalTransport(
    GroupPlace place, const HierarchicalOptions& options, Instant deadline);

// Makes Gloo transports, with GlooOptions from the environment, for
// HierarchicalOptions::network.
NetworkFactory GlooNetwork();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_HIERARCHICAL_HIERARCHICAL_TRANSPORT_H_
