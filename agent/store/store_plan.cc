#include "agent/store/store_plan.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/net/socket_address.h"
#include "rendezvous/protocol/report.h"

namespace muster::agent {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kStoreBytes = 64 * kMiB;
constexpr size_t kStoreBytesPerWorker = 8 * kMiB;
constexpr size_t kMaxStoreBytes = 1024 * kMiB;
constexpr size_t kBufferBytes = 1024 * kMiB;

bool IsAddress(const std::string& host) {
  return NumericAddress(host, 0).has_value();
}

// Whether all nodes of the round run on this host.
bool AreAllHere(const std::vector<std::string>& clients,
                const AddressSet& own) {
  return !clients.empty() &&
         std::all_of(clients.begin(), clients.end(),
                     [&own](const std::string& client) {
                       const std::optional<SocketAddress> address =
                           NumericAddress(client, 0);
                       return address.has_value() &&
                              (IsLoopback(client) || own.Contains(*address));
                     });
}

std::vector<std::string> ListenAddresses(
    const rendezvous::Place& place, const AddressSet& own,
    const std::vector<std::string>& more_clients) {
  const std::string& master = place.master_address;
  const bool is_loopback = IsLoopback(master) && IsAddress(master);
  if (place.group_world_size == 1 && more_clients.empty()) {
    if (is_loopback) return {master};
    // The server listens on the first address in the list that this host has. A
    // host may lack one or both of the loopback addresses.
    std::vector<std::string> listen = {"127.0.0.1", "::1"};
    if (IsAddress(master)) listen.push_back(master);
    return listen;
  }
  if (is_loopback) {
    if (more_clients.empty() && AreAllHere(place.store_clients, own)) {
      return {master};
    }
    return {""};
  }
  // If the advertised address is translated (NAT), this host does not have it.
  // The server then falls back to all addresses ("").
  if (IsAddress(master)) return {master, ""};
  return {""};
}

}  // namespace

StorePlan PlanStore(const rendezvous::Place& place,
                    const std::vector<std::string>& own_addresses,
                    const std::vector<std::string>& more_clients) {
  StorePlan plan;
  plan.clients = AddressSet::Loopback();
  for (const std::string& address : own_addresses) {
    plan.clients.Add(address).IgnoreError();
  }
  plan.own_host = plan.clients;
  plan.listen = ListenAddresses(place, plan.clients, more_clients);
  // Permits the addresses of the round's nodes as clients. Add fails for a host
  // name (of --local-addr). The failure is ignored, because the node with this
  // name also reports its IP addresses.
  for (const std::string& address : place.store_clients) {
    plan.clients.Add(address).IgnoreError();
  }
  for (const std::string& address : more_clients) {
    plan.clients.Add(address).IgnoreError();
  }
  if (place.group_world_size > 1 && place.store_clients.empty()) {
    plan.clients = AddressSet::All();
    plan.remark =
        "the round's store serves every address: the coordinator is of an "
        "older Muster and does not tell the addresses of the nodes; install "
        "the same Muster on every node";
  }
  const auto workers = static_cast<size_t>(std::max(place.world_size, 1));
  plan.max_store_bytes =
      std::min(kStoreBytes + workers * kStoreBytesPerWorker, kMaxStoreBytes);
  plan.max_buffer_bytes = plan.max_store_bytes + kBufferBytes;
  return plan;
}

std::vector<std::string> ReportedAddresses(
    const std::vector<std::string>& own_addresses) {
  std::vector<std::string> reported;
  std::vector<std::string> link_local;
  for (const std::string& address : own_addresses) {
    if (IsLoopback(address)) continue;
    (address.rfind("fe80:", 0) == 0 ? link_local : reported).push_back(address);
  }
  reported.insert(reported.end(), link_local.begin(), link_local.end());
  if (reported.size() > rendezvous::kMaxNodeAddresses) {
    reported.resize(rendezvous::kMaxNodeAddresses);
  }
  return reported;
}

}  // namespace muster::agent
