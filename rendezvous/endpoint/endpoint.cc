#include "rendezvous/endpoint/endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace muster::rendezvous {
namespace {

// Maximum length of a host in bytes. RFC 1035 limits host names to 255 bytes.
// An IPv6 address with a zone is shorter.
constexpr size_t kMaxHostBytes = 255;

bool IsIpv6(const std::string& host) {
  in6_addr unused;
  return inet_pton(AF_INET6, host.substr(0, host.find('%')).c_str(), &unused) ==
         1;
}

absl::Status Malformed(const std::string& text, const char* why) {
  return absl::InvalidArgumentError(
      absl::StrCat("endpoint \"", text.substr(0, kMaxHostBytes), "\": ", why,
                   "; write host:port, such as node0:29400"));
}

}  // namespace

std::string Endpoint::ToString() const {
  const bool v6 = host.find(':') != std::string::npos;
  return absl::StrCat(v6 ? "[" : "", host, v6 ? "]:" : ":", port);
}

absl::StatusOr<Endpoint> ParseEndpoint(const std::string& text) {
  Endpoint endpoint;
  std::string port;
  bool has_port = false;
  const size_t colons = std::count(text.begin(), text.end(), ':');
  if (!text.empty() && text[0] == '[') {
    const size_t close = text.find(']');
    if (close == std::string::npos) return Malformed(text, "no ] to the [");
    endpoint.host = text.substr(1, close - 1);
    const std::string rest = text.substr(close + 1);
    if (!rest.empty() && rest[0] != ':') {
      return Malformed(text, "after ] comes the port");
    }
    has_port = !rest.empty();
    if (has_port) port = rest.substr(1);
  } else if (colons == 1) {
    endpoint.host = text.substr(0, text.find(':'));
    port = text.substr(text.find(':') + 1);
    has_port = true;
  } else {
    endpoint.host = text;  // a host name, or an IPv6 address without brackets
  }
  if (endpoint.host.empty()) return Malformed(text, "no host");
  if (endpoint.host.size() > kMaxHostBytes) {
    return Malformed(text, "the host is too long");
  }
  if (endpoint.host.find(':') != std::string::npos && !IsIpv6(endpoint.host)) {
    return Malformed(text, "several colons, and it is no IPv6 address");
  }
  for (unsigned char c : endpoint.host) {
    if (c <= ' ' || c == 0x7f || c == '/' || c == '[' || c == ']') {
      return Malformed(text, "the host holds a character that none has");
    }
  }
  if (has_port && (!absl::SimpleAtoi(port, &endpoint.port) ||
                   endpoint.port < 0 || endpoint.port > 65535)) {
    return Malformed(text, "the port is not a number from 0 to 65535");
  }
  return endpoint;
}

absl::StatusOr<std::vector<Endpoint>> ParseEndpoints(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  if (parts.size() > kMaxEndpoints) {
    return absl::InvalidArgumentError(
        absl::StrCat(parts.size(), " endpoints are too many; write at most ",
                     kMaxEndpoints));
  }
  std::vector<Endpoint> endpoints;
  for (const std::string& part : parts) {
    if (part.empty() && parts.size() > 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "endpoint ", endpoints.size() + 1, " of ", parts.size(),
          " is empty; write host:port,host:port with one comma between two"));
    }
    absl::StatusOr<Endpoint> endpoint = ParseEndpoint(part);
    if (!endpoint.ok()) return endpoint.status();
    for (const Endpoint& earlier : endpoints) {
      if (earlier.port == endpoint->port &&
          absl::EqualsIgnoreCase(earlier.host, endpoint->host)) {
        return absl::InvalidArgumentError(
            absl::StrCat("endpoint ", earlier.ToString(),
                         " is given twice; write each endpoint once"));
      }
    }
    endpoints.push_back(*std::move(endpoint));
  }
  return endpoints;
}

std::string EndpointsText(const std::vector<Endpoint>& endpoints) {
  return absl::StrJoin(endpoints, ",",
                       [](std::string* text, const Endpoint& endpoint) {
                         absl::StrAppend(text, endpoint.ToString());
                       });
}

}  // namespace muster::rendezvous
