#ifndef MUSTER_AGENT_STORE_STORE_PLAN_H_
#define MUSTER_AGENT_STORE_STORE_PLAN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/net/address_set.h"
#include "rendezvous/protocol/directive.h"

namespace muster::agent {

// The path of the connections from a node's workers to the round's store.
enum class StorePath {
  kDirect,  // one connection per worker to the node of rank 0
  // one connection per node: its agent relays its workers' requests
  // (--local-store)
  kThroughAgent,
};

// The way in which this node serves the store of one round.
struct StorePlan {
  // The addresses to listen on, in the order of preference: the server uses
  // only the first one that this host has. An empty string means all addresses.
  std::vector<std::string> listen;
  // The remote addresses whose connections the store accepts.
  AddressSet clients;
  // The addresses of this host. If the round has a channel key
  // (--encrypt=workers), the store serves clients from these addresses in clear
  // text, and all other clients only over TLS.
  AddressSet own_host;
  // The memory limits of the store in bytes. max_store_bytes: for its content.
  // max_buffer_bytes: for data that is received but not handled, or sent but
  // not read.
  size_t max_store_bytes = 0;
  size_t max_buffer_bytes = 0;
  // A sentence for the user about this plan; may be empty.
  std::string remark;
};

// Plans the store of a round that this node serves. Pure.
//
// The store listens on the loopback address if the world has one node and
// `more_clients` is empty, and else on `place.master_address`. In three cases
// it listens on all addresses instead:
// - `master_address` is a name, which nodes may resolve differently.
// - `master_address` is a loopback address, and clients may be on other hosts.
//   (The coordinator runs on this host, and these clients use the coordinator's
//   address.)
// - This host does not have `master_address`, because a NAT translates it.
//
// The store serves clients with these addresses: 127.0.0.1, ::1, this host's
// addresses, those of the round's nodes (`place.store_clients`), and
// `more_clients` (the addresses and networks of --store-clients). An older
// coordinator does not report the nodes' addresses. Clients from all addresses
// are then served, and StorePlan::remark says so.
//
// The memory limits grow with the number of workers. Content: 64 MiB plus 8 MiB
// per worker, at most 1 GiB. Buffers: 1 GiB more than the limit of the content.
//
// `own_addresses` are those of this host's interfaces.
StorePlan PlanStore(const rendezvous::Place& place,
                    const std::vector<std::string>& own_addresses,
                    const std::vector<std::string>& more_clients);

// Returns the addresses that a node reports: the addresses of its interfaces at
// which other hosts may see it. Link-local addresses are last. At most
// rendezvous::kMaxNodeAddresses. Pure.
std::vector<std::string> ReportedAddresses(
    const std::vector<std::string>& own_addresses);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_STORE_STORE_PLAN_H_
