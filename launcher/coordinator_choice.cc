#include "launcher/coordinator_choice.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/fnv_hash.h"
#include "base/net/socket_address.h"

namespace muster::launcher {
namespace {

bool IsAddress(const std::string& host) {
  return host.find(':') != std::string::npos ||
         host.find_first_not_of("0123456789.") == std::string::npos;
}

std::string FirstLabel(const std::string& host) {
  std::string label = host.substr(0, host.find('.'));
  for (char& c : label) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return label;
}

// Returns the address of the endpoint's host that is also an address of this
// machine; nullopt: there is none. All addresses in 127.0.0.0/8 belong to this
// machine, although the list of interfaces has only 127.0.0.1.
std::optional<std::string> OwnedAddress(const MachineFacts& facts,
                                        const ResolvedHost& resolved) {
  std::optional<std::string> loopback;
  for (const std::string& address : resolved.addresses) {
    if (IsLoopback(address)) {
      if (!loopback) loopback = address;
    } else if (std::find(facts.addresses.begin(), facts.addresses.end(),
                         address) != facts.addresses.end()) {
      return address;
    }
  }
  return loopback;
}

// Returns the address at which peers reach the coordinator on this node.
// Normally this is `owned` (see OwnedAddress). In two cases it is another
// address of this machine, if there is one: `owned` is nullopt, or /etc/hosts
// maps the machine's own name to a loopback address.
std::string AddressForPeers(const std::string& host,
                            const std::optional<std::string>& owned,
                            const MachineFacts& facts) {
  if (owned && (IsAddress(host) || IsLoopback(host) || !IsLoopback(*owned))) {
    return *owned;
  }
  if (!facts.outward_address.empty()) return facts.outward_address;
  for (const std::string& address : facts.addresses) {
    if (!IsLoopback(address)) return address;
  }
  return "127.0.0.1";
}

// Returns the address that the coordinator on this node binds. If `host` names
// the loopback interface or is an IP address of this machine, this is `owned`
// (see OwnedAddress). Any other name may resolve to different addresses on this
// machine and on the peers, so the coordinator binds every interface.
std::string ListenHost(const std::string& host,
                       const std::optional<std::string>& owned) {
  if (owned && (IsAddress(host) || IsLoopback(host))) return *owned;
  return "::";
}

// Whether this node is alone: --standalone, or a job of one node without an
// endpoint. An endpoint with port 0 counts as none.
bool IsAlone(const RunOptions& options) {
  return options.standalone == Standalone::kYes ||
         (options.spec.max_nodes == 1 &&
          (options.endpoints.empty() ||
           (options.endpoints.size() == 1 && options.endpoints[0].port == 0)));
}

// Whether node rank 0 hosts the coordinator, at --master-addr.
bool IsStatic(const RunOptions& options) {
  return options.backend == RendezvousBackend::kStatic &&
         options.endpoints.empty();
}

absl::Status CheckNodes(const RunOptions& options) {
  const rendezvous::JobSpec& spec = options.spec;
  if (options.standalone == Standalone::kYes && spec.max_nodes > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--standalone: is for one node, but --nnodes asks for up to ",
        spec.max_nodes, "; write --rdzv-endpoint=HOST:PORT instead"));
  }
  if (!IsAlone(options) && IsStatic(options) &&
      spec.min_nodes != spec.max_nodes) {
    return absl::InvalidArgumentError(
        absl::StrCat("--nnodes=", spec.min_nodes, ":", spec.max_nodes,
                     ": a static job has a fixed number of nodes; write "
                     "--rdzv-endpoint=HOST:PORT for a job whose nodes come "
                     "and go"));
  }
  return absl::OkStatus();
}

absl::Status CheckPorts(const RunOptions& options, const Meeting& meeting) {
  const auto uses = [&meeting](int port) {
    return std::ranges::any_of(meeting.endpoints,
                               [port](const rendezvous::Endpoint& endpoint) {
                                 return endpoint.port == port;
                               });
  };
  if (uses(0) && options.remote.endpoint_fd < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        IsStatic(options) ? "--master-port=0" : "--rdzv-endpoint",
        ": port 0 cannot be found by the other nodes; write a port, for "
        "example ",
        rendezvous::kDefaultPort));
  }
  const bool are_nodes = meeting.endpoints.size() > 1 &&
                         OwnersOfEndpoints(options) == EndpointOwners::kNodes;
  if (are_nodes && options.remote.endpoint_fd < 0 &&
      !std::ranges::all_of(
          meeting.endpoints, [&meeting](const rendezvous::Endpoint& endpoint) {
            return endpoint.port == meeting.endpoints.front().port;
          })) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--rdzv-endpoint=", rendezvous::EndpointsText(meeting.endpoints),
        ": with --takeover, several endpoints are those of nodes, "
        "which all listen on one port; write the same port for "
        "each, or leave out --takeover if they are daemons"));
  }
  if (options.store_port != 0 && uses(options.store_port)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--store-port=", options.store_port,
        ": is the coordinator's port; write another one, and let both through "
        "the firewall"));
  }
  return absl::OkStatus();
}

// Returns the run id of a node that runs alone with --state-dir. The run id is
// a hash of the folder's absolute path, so that each start with this folder
// continues the same job.
std::string RunIdOf(const std::string& state_dir, const MachineFacts& facts) {
  std::string path = state_dir[0] == '/' ? state_dir
                                         : absl::StrCat(facts.working_directory,
                                                        "/", state_dir);
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return absl::StrCat("state-", absl::Hex(FnvHashOf(path), absl::kZeroPad16));
}

Meeting MeetingOfOne(const RunOptions& options, const MachineFacts& facts) {
  const bool is_unnamed = options.run_id == RunOptions().run_id;
  Meeting meeting = {.alone = true,
                     .endpoints = {{facts.loopback, 0}},
                     .run_id = options.run_id,
                     .store_port = options.store_port};
  if (options.standalone == Standalone::kYes || is_unnamed) {
    meeting.run_id = options.state_dir.empty()
                         ? facts.uuid
                         : RunIdOf(options.state_dir, facts);
  }
  if (options.store_port == 0) {
    meeting.store_port = options.master_port.value_or(0);
    meeting.store_port_flag = "--master-port";
  }
  return meeting;
}

}  // namespace

absl::StatusOr<Meeting> DecideMeeting(const RunOptions& options,
                                      const MachineFacts& facts) {
  const absl::Status nodes = CheckNodes(options);
  if (!nodes.ok()) return nodes;
  if (IsAlone(options)) return MeetingOfOne(options, facts);
  Meeting meeting = {.run_id = options.run_id,
                     .store_port = options.store_port};
  if (!options.endpoints.empty()) {
    meeting.endpoints = options.endpoints;
  } else if (IsStatic(options)) {
    meeting.endpoints = {options.master};
  } else {
    meeting.endpoints = {{"localhost", rendezvous::kDefaultPort}};
  }
  const absl::Status ports = CheckPorts(options, meeting);
  if (!ports.ok()) return ports;
  return meeting;
}

absl::StatusOr<CoordinatorChoice> ChooseCoordinator(
    const Meeting& meeting, const RunOptions& options,
    const MachineFacts& facts, const ResolvedHost& resolved) {
  CoordinatorChoice choice;
  choice.endpoints = meeting.endpoints;
  if (meeting.alone) {
    choice.place = CoordinatorPlace::kHere;
    choice.listen = choice.endpoints.front();
    choice.own_address = facts.loopback;
    choice.reason = "this node is the only one";
    return choice;
  }
  const bool are_several = choice.endpoints.size() > 1;
  if (are_several && OwnersOfEndpoints(options) == EndpointOwners::kDaemons) {
    choice.place = CoordinatorPlace::kElsewhere;
    choice.reason = absl::StrCat(choice.endpoints.size(),
                                 " endpoints are those of daemons");
    return choice;
  }
  choice.is_taken_over = IsTakenOver(options);
  // An agent that another `launch` started tries all endpoints at once, because
  // the first one belonged to a host that was lost.
  if (are_several && options.remote.endpoint_fd < 0) {
    choice.others.assign(choice.endpoints.begin() + 1, choice.endpoints.end());
    choice.endpoints.resize(1);
  }
  const rendezvous::Endpoint& endpoint = choice.endpoints.front();
  const std::string& host = endpoint.host;
  const std::optional<std::string> owned = OwnedAddress(facts, resolved);
  const bool named_like_us = resolved.addresses.empty() &&
                             FirstLabel(host) == FirstLabel(facts.host_name);
  const bool is_owner = owned.has_value() || named_like_us;

  if (options.hosting == Hosting::kAlways) {
    choice.place = CoordinatorPlace::kHere;
    choice.reason = "is_host=1";
  } else if (options.hosting == Hosting::kNever) {
    choice.place = CoordinatorPlace::kElsewhere;
    choice.reason = "is_host=0";
  } else if (IsStatic(options) && options.node_rank) {
    choice.place = *options.node_rank == 0 ? CoordinatorPlace::kHere
                                           : CoordinatorPlace::kElsewhere;
    choice.reason = absl::StrCat("node rank ", *options.node_rank);
  } else if (is_owner) {
    choice.place = CoordinatorPlace::kHereIfFree;
    choice.reason = absl::StrCat(host, " is this node");
  } else {
    choice.place = CoordinatorPlace::kElsewhere;
    choice.reason = absl::StrCat(host, " is another node");
  }

  if (choice.place == CoordinatorPlace::kElsewhere) {
    // If there are several endpoints, an endpoint that does not resolve is no
    // error, because the node tries the others.
    if (resolved.addresses.empty() && !are_several) {
      return absl::UnavailableError(absl::StrCat(
          "the coordinator's host ", host, " does not resolve; look at ",
          options.endpoints.empty() ? "--master-addr" : "--rdzv-endpoint"));
    }
    return choice;
  }
  choice.listen = {ListenHost(host, owned), endpoint.port};
  choice.own_address = AddressForPeers(host, owned, facts);
  return choice;
}

}  // namespace muster::launcher
