#ifndef MUSTER_AGENT_STORE_STORE_PLAN_H_
#define MUSTER_AGENT_STORE_STORE_PLAN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/net/address_set.h"
#include "rendezvous/protocol/directive.h"

namespace muster::agent {

// How this node serves the store of one round.
struct StorePlan {
  // The addresses to listen on: the first one that this host has. Empty string:
  // all addresses.
  std::vector<std::string> listen;
  // The addresses that are served.
  AddressSet clients;
  // The addresses of this host. If the round has a channel key, the store
  // serves only clients from these addresses in clear text.
  AddressSet own_host;
  // As in StoreServerOptions.
  size_t max_store_bytes = 0;
  size_t max_buffer_bytes = 0;
  // A sentence for people; may be empty.
  std::string remark;
};

// Plans the store of a round that this node serves. Pure.
//
// Listens on the loopback address in a world of one node, on
// `place.master_address` in a larger one. All addresses are listened on if
// `master_address` is a name, which nodes may resolve differently, or if it is
// a loopback address and nodes of other hosts, which reach this host at the
// coordinator's address, take part.
//
// Serves 127.0.0.1, ::1, this host's addresses, those of the round's nodes
// (`place.store_clients`) and those of `more_clients`: addresses and networks
// of
// --store-clients. An older coordinator does not tell the nodes' addresses:
// then all addresses are served, and the remark says so.
//
// The memory grows with the number of workers: 64 MiB and 8 MiB a worker for
// keys, at most 1 GiB; and 1 GiB more for buffers.
//
// `own_addresses`: of this host's interfaces.
StorePlan PlanStore(const rendezvous::Place& place,
                    const std::vector<std::string>& own_addresses,
                    const std::vector<std::string>& more_clients);

// Returns the addresses that a node reports: those of its interfaces at which
// other hosts may see it, link-local ones last, at most
// rendezvous::kMaxNodeAddresses. Pure.
std::vector<std::string> ReportedAddresses(
    const std::vector<std::string>& own_addresses);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_STORE_STORE_PLAN_H_
