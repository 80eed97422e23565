#include "rendezvous/server/caller_check.h"

#include <grpcpp/server_context.h>

#include <algorithm>
#include <string_view>

#include "rendezvous/grpc/grpc_setup.h"
#include "rendezvous/tls/tls_credentials.h"
#include "rendezvous/token/token.h"

namespace muster::rendezvous {
namespace {

std::string Replaced(std::string text, const std::string& what,
                     const std::string& with) {
  const size_t at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

}  // namespace

std::string PeerIp(const std::string& peer) {
  const bool is_v6 = peer.rfind("ipv6:", 0) == 0;
  if (!is_v6 && peer.rfind("ipv4:", 0) != 0) return "";
  std::string ip = peer.substr(5);
  // Some versions of gRPC return the peer as a URI with escaped brackets.
  ip = Replaced(Replaced(ip, "%5B", "["), "%5D", "]");
  ip.resize(ip.rfind(':') == std::string::npos ? 0 : ip.rfind(':'));
  if (!is_v6) return ip;
  if (ip.size() < 2 || ip.front() != '[' || ip.back() != ']') return "";
  ip = ip.substr(1, ip.size() - 2);
  constexpr char kMapped[] = "::ffff:";
  if (ip.rfind(kMapped, 0) == 0 && ip.find('.') != std::string::npos) {
    ip.erase(0, sizeof(kMapped) - 1);
  }
  return ip;
}

std::string PeerKey(const std::string& peer) {
  std::string ip = PeerIp(peer);
  if (ip.empty()) return "";
  ip.resize(std::min(ip.find('%'), ip.size()));
  return ip + peer.substr(peer.rfind(':'));
}

absl::StatusOr<Principal> CallerCheck::Identify(
    const grpc::CallbackServerContext& context) const {
  if (bearers_.empty()) return PeerPrincipal(*context.auth_context());
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find(kAuthorization);
  if (found == metadata.end()) {
    return absl::UnauthenticatedError(
        "this coordinator asks for a job token, and none was given");
  }
  std::string_view given(found->second.data(), found->second.size());
  const std::string_view scheme = kBearer;
  given.remove_prefix(given.substr(0, scheme.size()) == scheme ? scheme.size()
                                                               : given.size());
  int matches = 0;
  for (const std::string& one : bearers_)
    matches += IsToken(given, one) ? 1 : 0;
  if (matches == 0) return absl::UnauthenticatedError("wrong job token");
  return PeerPrincipal(*context.auth_context());
}

}  // namespace muster::rendezvous
