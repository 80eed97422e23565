#include <cmath>
#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/health/examine_host.h"
#include "agent/health/wording.h"
#include "base/loopback.h"

namespace muster::agent {
namespace {

std::string FirstLabel(const std::string& name) {
  return name.substr(0, name.find('.'));
}

// Lists addresses: "node1, 10.0.0.1 (eth0), 10.1.0.1 (ib0)".
std::string Summary(const NetworkFacts& network) {
  std::vector<std::string> parts = {network.host_name};
  for (const Interface& interface : network.interfaces) {
    if (!interface.up || interface.loopback) continue;
    for (const std::string& address : interface.addresses) {
      if (absl::StartsWith(address, "fe80")) continue;
      parts.push_back(absl::StrCat(address, " (", interface.name, ")"));
    }
  }
  return Listed(parts);
}

bool HasNetwork(const NetworkFacts& network) {
  for (const Interface& interface : network.interfaces) {
    if (interface.up && !interface.loopback && !interface.addresses.empty()) {
      return true;
    }
  }
  return false;
}

void ExamineNames(const NetworkFacts& network, std::vector<Finding>& findings) {
  if (!network.forward_error.empty()) {
    findings.push_back(Found("name-unresolved", network.forward_error));
  }
  if (!HasNetwork(network)) return;
  for (const std::string& address : network.forward) {
    if (!IsLoopback(address)) continue;
    findings.push_back(
        Found("name-loopback",
              absl::StrCat(network.host_name, " resolves to ", address)));
    break;
  }
  std::vector<std::string> wrong;
  for (const auto& [address, name] : network.reverse) {
    if (name.empty()) {
      wrong.push_back(absl::StrCat(address, " to no name"));
    } else if (FirstLabel(name) != FirstLabel(network.host_name)) {
      wrong.push_back(absl::StrCat(address, " to ", name));
    }
  }
  if (!wrong.empty()) {
    findings.push_back(
        Found("name-reverse", absl::StrCat("resolving back: ", Listed(wrong))));
  }
}

void ExaminePorts(const NetworkFacts& network, std::vector<Finding>& findings) {
  for (const PortUse& use : network.ports) {
    if (!use.error.empty()) {
      findings.push_back(
          Found("port-busy", absl::StrCat("port ", use.port, ": ", use.error)));
    }
  }
  const int first = network.ephemeral_first;
  const int last = network.ephemeral_last;
  if (first <= 0 || last < first) return;
  constexpr int kFew = 10'000;
  const std::string range = absl::StrCat(first, " to ", last);
  if (last - first < kFew) {
    findings.push_back(
        Found("port-range-small",
              absl::StrCat("outgoing connections have ports ", range)));
  }
  std::vector<std::string> inside;
  for (const PortUse& use : network.ports) {
    if (use.port >= first && use.port <= last) {
      inside.push_back(absl::StrCat(use.port));
    }
  }
  if (!inside.empty()) {
    findings.push_back(Found("port-in-range",
                             absl::StrCat(Listed(inside), " within ", range)));
  }
}

std::string Seconds(Duration duration) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f s", std::fabs(ToSeconds(duration)));
  return text;
}

}  // namespace

std::vector<Finding> ExamineNetwork(const NetworkFacts& network) {
  std::vector<Finding> findings = {Found("network", Summary(network))};
  if (!HasNetwork(network)) {
    findings.push_back(
        Found("network-none", "no interface but the loopback is up"));
  }
  ExamineNames(network, findings);
  for (const FabricPort& port : network.fabric) {
    if (port.state == "ACTIVE") continue;
    findings.push_back(Found(
        "fabric-port-down", absl::StrCat(port.device, " port ", port.port, " (",
                                         port.layer, ") is ", port.state)));
  }
  ExaminePorts(network, findings);
  return findings;
}

std::vector<Finding> ExamineCoordinator(const CoordinatorFacts& coordinator,
                                        const std::string& own_version) {
  if (!coordinator.error.empty()) {
    return {Found("coordinator-unreachable", coordinator.error)};
  }
  if (!coordinator.token_error.empty()) {
    return {Found("coordinator-token", coordinator.token_error)};
  }
  const std::string seen = coordinator.seen_address.empty()
                               ? coordinator.local_address
                               : coordinator.seen_address;
  std::string how = "answers";
  if (coordinator.wants_token) {
    how = "answers and wants the job's token";
  } else if (coordinator.round_trip > Duration::zero()) {
    char text[64];
    std::snprintf(text, sizeof(text), "answers in %.1f ms",
                  ToSeconds(coordinator.round_trip) * 1e3);
    how = text;
  }
  absl::StrAppend(&how,
                  coordinator.seen_address.empty()
                      ? "; this node speaks to it from "
                      : " and sees this node as ",
                  seen);
  std::vector<Finding> findings = {
      Found("coordinator", absl::StrCat(coordinator.endpoint, " ", how))};
  if (!coordinator.seen_address.empty() && !coordinator.local_address.empty() &&
      coordinator.seen_address != coordinator.local_address) {
    findings.push_back(Found(
        "coordinator-translated",
        absl::StrCat("this node speaks from ", coordinator.local_address,
                     ", the coordinator sees ", coordinator.seen_address)));
  }
  // A coordinator on this machine sees a loopback address, whatever address the
  // peers use.
  const std::string& advertised = coordinator.advertised_address;
  if (!coordinator.seen_address.empty() && !advertised.empty() &&
      advertised != coordinator.seen_address &&
      advertised != coordinator.local_address &&
      !IsLoopback(coordinator.seen_address)) {
    findings.push_back(
        Found("coordinator-other-address",
              absl::StrCat("peers dial ", advertised,
                           ", the coordinator sees this node as ",
                           coordinator.seen_address)));
  }
  if (!coordinator.version.empty() && coordinator.version != own_version) {
    findings.push_back(
        Found("coordinator-version",
              absl::StrCat("the coordinator is ", coordinator.version,
                           ", this is ", own_version)));
  }
  // More than the network's delay can explain.
  if (coordinator.clock_ahead &&
      std::chrono::abs(*coordinator.clock_ahead) >
          std::chrono::seconds(2) + coordinator.round_trip) {
    const bool ahead = *coordinator.clock_ahead > Duration::zero();
    findings.push_back(
        Found("clock-skew",
              absl::StrCat("the coordinator's clock is ",
                           Seconds(*coordinator.clock_ahead),
                           ahead ? " ahead of" : " behind", " this node's")));
  }
  return findings;
}

}  // namespace muster::agent
