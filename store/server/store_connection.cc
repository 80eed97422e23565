#include "store/server/store_connection.h"

#include <netdb.h>
#include <sys/socket.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace muster::store {

std::string PeerName(const OwnedFd& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  if (getpeername(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) !=
          0 ||
      getnameinfo(reinterpret_cast<sockaddr*>(&address), size, host,
                  sizeof(host), port, sizeof(port),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "a client that is gone";
  }
  // An IPv4 client of a dual-stack socket has an IPv4-mapped address.
  return absl::StrCat(absl::StripPrefix(host, "::ffff:"), " port ", port);
}

}  // namespace muster::store
