#include "store/server/store_connection.h"

#include <netdb.h>
#include <sys/socket.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/check.h"
#include "store/wire/relay_frames.h"

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
  // A socket for both IPv4 and IPv6 shows an IPv4 client with an IPv4-mapped
  // address. Remove the prefix.
  return absl::StrCat(absl::StripPrefix(host, "::ffff:"), " port ", port);
}

absl::StatusOr<StoreClientId> ChannelTable::ClientOf(
    StoreConnection& connection, uint32_t channel) {
  const auto known = connection.channels.find(channel);
  if (known != connection.channels.end()) return known->second;
  if (connection.channels.size() >= kMaxRelayChannels) {
    return absl::ResourceExhaustedError("a relay with too many channels");
  }
  const StoreClientId client = kBit | next_++;
  connection.channels.emplace(channel, client);
  places_.emplace(client, Place{connection.id, channel});
  return client;
}

const ChannelTable::Place* ChannelTable::Find(StoreClientId client) const {
  const auto place = places_.find(client);
  return place == places_.end() ? nullptr : &place->second;
}

void ChannelTable::End(StoreConnection& connection, uint32_t channel,
                       std::vector<StoreClientId>* gone) {
  const auto known = connection.channels.find(channel);
  if (known == connection.channels.end()) return;
  gone->push_back(known->second);
  places_.erase(known->second);
  connection.channels.erase(known);
}

void ChannelTable::EndAll(StoreConnection& connection,
                          std::vector<StoreClientId>* gone) {
  while (!connection.channels.empty()) {
    End(connection, connection.channels.begin()->first, gone);
  }
}

StoreConnection& ConnectionTable::Add(StreamSocket socket,
                                      StoreConnection::Role role) {
  const int fd = socket.fd.get();
  MUSTER_CHECK(fd < 1 << kFdBits);
  auto connection = std::make_unique<StoreConnection>();
  connection->id = next_serial_++ << kFdBits | static_cast<uint64_t>(fd);
  connection->socket = std::move(socket);
  connection->role = role;
  if (by_fd_.size() <= static_cast<size_t>(fd)) by_fd_.resize(fd + 1);
  by_fd_[fd] = std::move(connection);
  ++size_;
  return *by_fd_[fd];
}

StoreConnection* ConnectionTable::Find(StoreClientId id) const {
  const size_t fd = id & ((uint64_t{1} << kFdBits) - 1);
  if (fd >= by_fd_.size() || by_fd_[fd] == nullptr) return nullptr;
  return by_fd_[fd]->id == id ? by_fd_[fd].get() : nullptr;
}

void ConnectionTable::Remove(const StoreConnection& connection) {
  by_fd_[connection.socket.fd.get()].reset();
  --size_;
}

void ConnectionTable::Clear() {
  by_fd_.clear();
  size_ = 0;
}

}  // namespace muster::store
