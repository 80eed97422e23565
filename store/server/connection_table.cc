#include "store/server/connection_table.h"

#include <utility>

#include "base/check.h"

namespace muster::store {

StoreConnection& ConnectionTable::Add(OwnedFd socket,
                                      StoreConnection::Role role) {
  const int fd = socket.get();
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
  by_fd_[connection.socket.get()].reset();
  --size_;
}

void ConnectionTable::Clear() {
  by_fd_.clear();
  size_ = 0;
}

}  // namespace muster::store
