// Reads the facts about a host's network.

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "agent/health/read_node.h"
#include "agent/health/small_file.h"
#include "agent/health/within.h"
#include "base/net/resolve.h"
#include "base/owned_fd.h"

namespace muster::agent {
namespace {

constexpr size_t kMaxInterfaces = 1024;
constexpr size_t kMaxReversed = 8;

SocketAddress AddressOf(const sockaddr* address) {
  SocketAddress copy;
  copy.size = address->sa_family == AF_INET ? sizeof(sockaddr_in)
                                            : sizeof(sockaddr_in6);
  std::memcpy(&copy.storage, address, copy.size);
  return copy;
}

std::vector<Interface> ReadInterfaces() {
  std::vector<Interface> interfaces;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return interfaces;
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    auto found = std::find_if(
        interfaces.begin(), interfaces.end(),
        [&](const Interface& one) { return one.name == at->ifa_name; });
    if (found == interfaces.end()) {
      if (interfaces.size() >= kMaxInterfaces) continue;
      found = interfaces.insert(interfaces.end(), Interface());
      found->name = at->ifa_name;
      found->up = (at->ifa_flags & IFF_UP) != 0;
      found->loopback = (at->ifa_flags & IFF_LOOPBACK) != 0;
    }
    if (at->ifa_addr == nullptr || (at->ifa_addr->sa_family != AF_INET &&
                                    at->ifa_addr->sa_family != AF_INET6)) {
      continue;
    }
    found->addresses.push_back(AddressOf(at->ifa_addr).Ip());
  }
  freeifaddrs(list);
  return interfaces;
}

std::vector<FabricPort> ReadFabric(const std::string& root) {
  const std::string base = root + "/sys/class/infiniband";
  std::vector<FabricPort> ports;
  for (const std::string& device : ListFolder(base, 64)) {
    const std::string folder = absl::StrCat(base, "/", device, "/ports");
    for (const std::string& number : ListFolder(folder, 16)) {
      FabricPort port;
      port.device = device;
      port.port = static_cast<int>(LeadingNumber(number).value_or(0));
      // An InfiniBand port's file `state` contains a number and a name, such as
      // "4: ACTIVE".
      const std::string state =
          ReadWord(absl::StrCat(folder, "/", number, "/state"));
      port.state = state.substr(std::min(state.size(), state.find(' ') + 1));
      port.layer = ReadWord(absl::StrCat(folder, "/", number, "/link_layer"));
      ports.push_back(std::move(port));
    }
  }
  return ports;
}

// Tests whether a server of Muster could listen on the port: listens on the
// port for a moment, as a server would. Returns the error, or "" on success.
std::string ListenOnce(int port) {
  const OwnedFd fd(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const OwnedFd fallback(
      fd.open() ? -1 : socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int own = fd.open() ? fd.get() : fallback.get();
  const int yes = 1;
  setsockopt(own, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in6 six = {};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(static_cast<uint16_t>(port));
  sockaddr_in four = {};
  four.sin_family = AF_INET;
  four.sin_port = six.sin6_port;
  const int bound =
      fd.open() ? bind(own, reinterpret_cast<sockaddr*>(&six), sizeof(six))
                : bind(own, reinterpret_cast<sockaddr*>(&four), sizeof(four));
  if (bound != 0 || listen(own, 1) != 0) return std::strerror(errno);
  return "";
}

std::string NameOf(const SocketAddress& address) {
  char name[NI_MAXHOST] = {};
  const int error = getnameinfo(address.get(), address.size, name, sizeof(name),
                                nullptr, 0, NI_NAMEREQD);
  return error == 0 ? name : "";
}

Duration Left(Instant deadline) {
  return std::max(Duration::zero(), deadline - MonotonicNow());
}

void ReadNames(NetworkFacts& facts, Instant deadline) {
  char name[HOST_NAME_MAX + 1] = {};
  gethostname(name, HOST_NAME_MAX);
  facts.host_name = name;
  const auto forward = Resolve(facts.host_name, 0, {.timeout = Left(deadline)});
  if (forward.ok()) {
    for (const SocketAddress& address : *forward) {
      facts.forward.push_back(address.Ip());
    }
  } else {
    facts.forward_error = std::string(forward.status().message());
  }
  for (const Interface& interface : facts.interfaces) {
    if (!interface.up || interface.loopback) continue;
    for (const std::string& text : interface.addresses) {
      // Skips link-local addresses, which have no names, and limits the number
      // of resolved addresses.
      if (facts.reverse.size() >= kMaxReversed || text.rfind("fe80", 0) == 0) {
        continue;
      }
      const std::optional<SocketAddress> address = NumericAddress(text, 0);
      if (!address.has_value()) continue;
      facts.reverse[text] = Within<std::string>(deadline, [one = *address] {
                              return NameOf(one);
                            }).value_or("");
    }
  }
}

}  // namespace

NetworkFacts ReadNetwork(const std::string& root, const std::vector<int>& ports,
                         Instant deadline) {
  NetworkFacts facts;
  facts.interfaces = ReadInterfaces();
  facts.outward_address = OutwardAddress();
  facts.fabric = ReadFabric(root);
  for (const int port : ports) facts.ports.push_back({port, ListenOnce(port)});
  const std::string range =
      ReadWord(root + "/proc/sys/net/ipv4/ip_local_port_range");
  facts.ephemeral_first = static_cast<int>(LeadingNumber(range).value_or(0));
  const size_t blank = range.find_first_of(" \t");
  if (blank != std::string::npos) {
    facts.ephemeral_last =
        static_cast<int>(LeadingNumber(range.substr(blank)).value_or(0));
  }
  ReadNames(facts, deadline);
  return facts;
}

}  // namespace muster::agent
