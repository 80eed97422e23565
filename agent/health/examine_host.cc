// Findings about a node's network, coordinator, cores, memory, limits and
// disks.

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/health/examine_node.h"
#include "agent/health/wording.h"
#include "base/net/socket_address.h"

namespace muster::agent {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kGiB = int64_t{1} << 30;

// The number of file descriptors that a coordinator needs in addition to its
// one connection per node.
constexpr int64_t kKeptByCoordinator = 64;

std::string LimitText(int64_t limit) {
  return limit < 0 ? "unlimited" : absl::StrCat(limit);
}

std::string Summary(const HostFacts& host) {
  std::string text = absl::StrCat(host.own_cores, " cores");
  if (host.own_cores != host.cores) {
    absl::StrAppend(&text, " of ", host.cores);
  }
  absl::StrAppend(&text, ", ", SizeText(host.memory), " memory, ",
                  SizeText(host.memory_available), " of it free");
  if (host.shm && host.shm->total > 0) {
    absl::StrAppend(&text, ", /dev/shm ", SizeText(host.shm->total));
  }
  absl::StrAppend(&text, ", ", LimitText(host.open_files), " open files");
  const int64_t nodes = host.max_open_files - kKeptByCoordinator;
  if (host.max_open_files > 0 && nodes > 0) {
    absl::StrAppend(&text, " (a coordinator here takes ", nodes, " nodes)");
  }
  return text;
}

void ExamineLimits(const HostFacts& host, const NetworkFacts& network,
                   std::vector<Finding>& findings) {
  constexpr int64_t kFewFiles = 4096;
  if (host.open_files >= 0 && host.open_files < kFewFiles) {
    findings.push_back(
        Found("open-files-low",
              absl::StrCat(host.open_files, " files may be open, at most ",
                           LimitText(host.max_open_files))));
  }
  constexpr int64_t kFewProcesses = 4096;
  if (host.processes >= 0 && host.processes < kFewProcesses) {
    findings.push_back(Found(
        "processes-low",
        absl::StrCat(host.processes, " processes and threads for this user")));
  }
  if (host.locked_memory >= 0 && host.locked_memory < kGiB &&
      !network.fabric.empty()) {
    findings.push_back(Found(
        "memlock-low",
        absl::StrCat(SizeText(host.locked_memory), " may be locked, with ",
                     network.fabric.front().device, " in use")));
  }
  if (host.quota_cores > 0 && host.quota_cores + 0.01 < host.own_cores) {
    char quota[32];
    std::snprintf(quota, sizeof(quota), "%.1f", host.quota_cores);
    findings.push_back(
        Found("cpu-quota", absl::StrCat("the time of ", quota, " cores on ",
                                        host.own_cores, " cores")));
  }
  if (host.governor == "powersave") {
    findings.push_back(
        Found("cpu-powersave", "the frequency governor is powersave"));
  }
  if (host.clock_synchronised == false) {
    findings.push_back(
        Found("clock-unsynchronised", "no time service keeps the clock"));
  }
}

}  // namespace

std::vector<Finding> ExamineSharedMemory(
    const std::optional<FolderFacts>& shm) {
  if (!shm) return {};
  if (!shm->error.empty() || !shm->writable || shm->read_only) {
    return {Found(
        "shm-missing",
        absl::StrCat("/dev/shm: ",
                     shm->error.empty() ? "cannot be written" : shm->error))};
  }
  const std::string size =
      absl::StrCat("/dev/shm has ", SizeText(shm->total), ", ",
                   SizeText(shm->free), " of it free");
  if (shm->total < 128 * kMiB) return {Found("shm-tiny", size)};
  if (shm->free < 64 * kMiB) return {Found("shm-full", size)};
  if (shm->total < kGiB) return {Found("shm-small", size)};
  return {};
}

std::vector<Finding> ExamineMemory(const HostFacts& host) {
  std::vector<Finding> findings;
  // Free memory counts as low below one percent of the machine's memory. On a
  // small machine it counts as low below 256 MiB, because one process needs
  // about that much.
  const int64_t least = std::max(256 * kMiB, host.memory / 100);
  if (host.memory > 0 && host.memory_available < least) {
    findings.push_back(Found(
        "memory-low", absl::StrCat(SizeText(host.memory_available), " of ",
                                   SizeText(host.memory), " memory are free")));
  }
  const bool limited = host.memory_limit > 0 && host.memory_limit < host.memory;
  if (!limited) return findings;
  const int64_t left = host.memory_limit - host.memory_in_use;
  const std::string group =
      absl::StrCat("the control group may use ", SizeText(host.memory_limit));
  if (left < std::min(256 * kMiB, host.memory_limit / 20)) {
    findings.push_back(
        Found("memory-low", absl::StrCat(group, " memory and uses ",
                                         SizeText(host.memory_in_use))));
  } else {
    findings.push_back(Found(
        "memory-limit", absl::StrCat(group, " of ", SizeText(host.memory))));
  }
  return findings;
}

std::vector<Finding> ExamineMachine(const HostFacts& host,
                                    const NetworkFacts& network) {
  std::vector<Finding> findings = {Found("machine", Summary(host))};
  for (const auto& part :
       {ExamineSharedMemory(host.shm), ExamineMemory(host)}) {
    findings.insert(findings.end(), part.begin(), part.end());
  }
  if (host.swap_used > kGiB) {
    findings.push_back(
        Found("swapping", absl::StrCat(SizeText(host.swap_used), " in swap")));
  }
  ExamineLimits(host, network, findings);
  return findings;
}

std::vector<Finding> ExamineDisks(const std::vector<FolderFacts>& folders) {
  std::vector<Finding> findings;
  std::vector<std::string> summary;
  for (const FolderFacts& folder : folders) {
    std::string name = absl::StrCat(folder.path, " (", folder.purpose, ")");
    if (!folder.error.empty()) {
      findings.push_back(
          Found("disk-unusable", absl::StrCat(name, ": ", folder.error)));
      continue;
    }
    if (folder.mounted_read_only && folder.purpose == kWorkingPurpose) {
      findings.push_back(Found("working-folder-read-only",
                               absl::StrCat(name, " is mounted read-only")));
      continue;
    }
    const std::string space = absl::StrCat(SizeText(folder.free), " free of ",
                                           SizeText(folder.total));
    if (!folder.above.empty()) {
      absl::StrAppend(&name, " is not there; ", folder.above, " above it");
    }
    const bool wanted = folder.above.empty() || folder.purpose == kLogsPurpose;
    if (!wanted) {
      findings.push_back(
          Found("disk-not-there", absl::StrCat(name, " has ", space)));
    } else if (folder.total > 0) {
      summary.push_back(
          absl::StrCat(name, folder.above.empty() ? " " : " has ", space));
    }
    if (folder.total <= 0) {
      findings.push_back(
          Found("disk-no-space-told",
                absl::StrCat(name, ": the file system tells of no space")));
    }
    if (folder.mounted_read_only) {
      findings.push_back(Found("disk-mounted-read-only",
                               absl::StrCat(name, ": mounted read-only")));
    } else if (folder.read_only) {
      findings.push_back(Found(
          "disk-read-only", absl::StrCat(name, ": a read-only file system")));
    } else if (!folder.writable) {
      findings.push_back(Found("disk-not-writable",
                               absl::StrCat(name, ": no right to write")));
    }
    if (folder.total > 0 && folder.free < 256 * kMiB) {
      findings.push_back(Found("disk-full", absl::StrCat(name, ": ", space)));
    } else if (folder.free < 20 * kGiB && folder.free < folder.total / 20) {
      findings.push_back(Found("disk-low", absl::StrCat(name, ": ", space)));
    }
    if (folder.files > 0 && folder.files_free < 1000) {
      findings.push_back(Found(
          "disk-inodes",
          absl::StrCat(name, ": room for ", folder.files_free, " more files")));
    }
  }
  if (!summary.empty()) {
    findings.insert(findings.begin(), Found("disks", Listed(summary)));
  }
  return findings;
}

namespace {

std::string FirstLabel(const std::string& name) {
  return name.substr(0, name.find('.'));
}

// Formats the host name and its addresses: "node1, 10.0.0.1 (eth0), 10.1.0.1
// (ib0)".
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
  // Reports a difference between two addresses of this node: the advertised
  // one, to which other nodes connect, and the one that the coordinator sees.
  // Nothing is reported if the coordinator sees a loopback address: a
  // coordinator on this machine always sees one.
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
  // Reports a difference between this node's clock and the coordinator's that
  // the network's delay cannot explain.
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
