#include "agent/options/endpoint.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "agent/options/option_values.h"

namespace muster {
namespace {

// RFC 1035's limit, with room for an IPv6 scope.
constexpr size_t kLongestHost = 255;

absl::Status CheckHost(const std::string& host) {
  if (host.empty()) {
    return absl::InvalidArgumentError(
        "names no host; write HOST or HOST:PORT, for example node1:29400");
  }
  if (host.size() > kLongestHost) {
    return absl::InvalidArgumentError(
        absl::StrCat("its host is longer than ", kLongestHost, " characters"));
  }
  for (const char c : host) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '.' || c == '-' ||
                       c == '_' || c == ':' || c == '%';
    if (!plain) {
      return absl::InvalidArgumentError(
          "its host is neither a name nor an IP address; write HOST or "
          "HOST:PORT, for example node1:29400");
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string Endpoint::ToString() const {
  return host.find(':') == std::string::npos
             ? absl::StrCat(host, ":", port)
             : absl::StrCat("[", host, "]:", port);
}

absl::StatusOr<Endpoint> ReadEndpoint(const std::string& text,
                                      int default_port) {
  Endpoint endpoint;
  endpoint.port = default_port;
  std::string port;
  const bool has_many_colons = std::count(text.begin(), text.end(), ':') > 1;
  if (text.find("://") != std::string::npos) {
    return absl::InvalidArgumentError(
        "has a scheme; write HOST or HOST:PORT without it");
  }
  if (!text.empty() && text[0] == '[') {
    const size_t end = text.find(']');
    if (end == std::string::npos ||
        (end + 1 < text.size() && text[end + 1] != ':')) {
      return absl::InvalidArgumentError(
          "its brackets do not match; write [ADDRESS]:PORT");
    }
    endpoint.host = text.substr(1, end - 1);
    if (end + 1 < text.size()) port = text.substr(end + 2);
    if (end + 2 == text.size()) port = "none";
  } else if (has_many_colons) {
    endpoint.host = text;
  } else {
    const size_t colon = text.find(':');
    endpoint.host = text.substr(0, colon);
    if (colon != std::string::npos) {
      port = text.substr(colon + 1);
      if (port.empty()) port = "none";
    }
  }
  absl::Status status = CheckHost(endpoint.host);
  if (!status.ok()) return status;
  if (!port.empty()) {
    const absl::StatusOr<int64_t> number = ReadNumber(port, 0, 65535);
    if (!number.ok()) {
      return absl::InvalidArgumentError(
          "its port is not a number from 0 to 65535; write HOST or HOST:PORT, "
          "for example node1:29400");
    }
    endpoint.port = static_cast<int>(*number);
  }
  return endpoint;
}

}  // namespace muster
