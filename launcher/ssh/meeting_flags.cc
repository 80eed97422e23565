#include "launcher/ssh/meeting_flags.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/net/socket_address.h"

namespace muster::launcher {
namespace {

// Whether `address` leads to the same machine from every host. False for
// loopback and link-local addresses.
bool IsForOthers(const std::string& address) {
  return !address.empty() && !IsLoopback(address) &&
         address.find('%') == std::string::npos &&
         address.rfind("fe80:", 0) != 0 && address.rfind("FE80:", 0) != 0;
}

// Returns the flag --rdzv-conf with the settings `conf`, which may be empty,
// and the setting `more`.
std::string ConfFlag(const std::string& conf, const std::string& more) {
  return absl::StrCat("--rdzv-conf=", conf, conf.empty() ? "" : ",", more);
}

}  // namespace

std::vector<std::string> HostingFlags(const RemotePlan& plan,
                                      const rendezvous::Endpoint& endpoint) {
  return {absl::StrCat("--rdzv-endpoint=", endpoint.ToString()),
          ConfFlag(plan.rendezvous_conf, "is_host=1")};
}

std::vector<std::string> MeetingFlags(
    const RemotePlan& plan,
    const std::vector<rendezvous::Endpoint>& endpoints) {
  std::vector<std::string> flags = {
      absl::StrCat("--rdzv-endpoint=", rendezvous::EndpointsText(endpoints))};
  if (plan.endpoints.empty()) {
    flags.push_back(ConfFlag(plan.rendezvous_conf, "is_host=0"));
  } else if (!plan.rendezvous_conf.empty()) {
    flags.push_back(absl::StrCat("--rdzv-conf=", plan.rendezvous_conf));
  }
  return flags;
}

std::string AddressForOthers(const RemotePlan& plan, const HostUp& host) {
  if (!plan.coordinator_address.empty()) return plan.coordinator_address;
  const std::vector<RemoteHost>& hosts = plan.node.hosts;
  const bool one_machine =
      std::all_of(hosts.begin(), hosts.end(), [](const RemoteHost& other) {
        return IsLoopback(
            other.destination.substr(other.destination.rfind('@') + 1));
      });
  if (one_machine || IsForOthers(host.reached_address)) {
    return host.reached_address.empty() ? "127.0.0.1" : host.reached_address;
  }
  return IsForOthers(host.outward_address) ? host.outward_address
                                           : std::string("127.0.0.1");
}

}  // namespace muster::launcher
