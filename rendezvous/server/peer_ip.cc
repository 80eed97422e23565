#include "rendezvous/server/peer_ip.h"

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
  // Some versions of gRPC format the peer as a URI with escaped brackets.
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

}  // namespace muster::rendezvous
