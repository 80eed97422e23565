#include "trainer_sdk/gloo/mesh_context.h"

#include <gloo/transport/address.h>
#include <gloo/transport/context.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/address.h>
#include <netinet/in.h>

#include <cstring>
#include <utility>

namespace muster {
namespace {

// Interrupt waits this long for a connection that this rank dials, before it
// closes the pair: longer than dialling a live host takes. Closing a connection
// to a dead host resets nothing.
constexpr std::chrono::milliseconds kCallGrace(250);

template <typename Ip>
int Compare(const Ip& one, const Ip& other, uint16_t port,
            uint16_t other_port) {
  const int ip = std::memcmp(&one, &other, sizeof(one));
  return ip != 0 ? ip : port - other_port;
}

// Gloo lets the rank with the larger address dial the other one. Ports are
// compared in network byte order.
bool Calls(const std::vector<char>& mine, const std::vector<char>& theirs) {
  using gloo::transport::tcp::Address;
  const sockaddr_storage self = Address(mine).getSockaddr();
  const sockaddr_storage peer = Address(theirs).getSockaddr();
  if (self.ss_family != peer.ss_family) return false;
  if (self.ss_family == AF_INET) {
    sockaddr_in a;
    sockaddr_in b;
    std::memcpy(&a, &self, sizeof(a));
    std::memcpy(&b, &peer, sizeof(b));
    return Compare(a.sin_addr, b.sin_addr, a.sin_port, b.sin_port) > 0;
  }
  sockaddr_in6 a;
  sockaddr_in6 b;
  std::memcpy(&a, &self, sizeof(a));
  std::memcpy(&b, &peer, sizeof(b));
  return Compare(a.sin6_addr, b.sin6_addr, a.sin6_port, b.sin6_port) > 0;
}

}  // namespace

MeshContext::MeshContext(int rank, int size,
                         std::shared_ptr<gloo::transport::Device> device,
                         std::chrono::milliseconds patience)
    : gloo::Context(rank, size) {
  setTimeout(patience);
  device_ = std::move(device);
  transportContext_ = device_->createContext(rank, size);
  transportContext_->setTimeout(patience);
  for (int peer = 0; peer < size; ++peer) {
    if (peer != rank) transportContext_->createPair(peer);
  }
}

std::vector<std::string> MeshContext::Addresses() {
  std::vector<std::string> addresses(size);
  for (int peer = 0; peer < size; ++peer) {
    if (peer == rank) continue;
    const std::vector<char> bytes = getPair(peer)->address().bytes();
    addresses[peer].assign(bytes.begin(), bytes.end());
  }
  return addresses;
}

void MeshContext::Connect(int peer, const std::string& address) {
  const std::vector<char> theirs(address.begin(), address.end());
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (interrupted_) return;
    connecting_ = peer;
    calls_ = Calls(getPair(peer)->address().bytes(), theirs);
  }
  struct Over {
    MeshContext& context;
    ~Over() {
      const std::lock_guard<std::mutex> lock(context.mutex_);
      context.connecting_ = kNobody;
      context.over_.notify_all();
    }
  } const over{*this};
  getPair(peer)->connect(theirs);
}

void MeshContext::Interrupt() {
  std::unique_lock<std::mutex> lock(mutex_);
  interrupted_ = true;
  const auto is_over = [this] { return connecting_ == kNobody; };
  if (calls_) over_.wait_for(lock, kCallGrace, is_over);
  if (!is_over()) getPair(connecting_)->close();
}

}  // namespace muster
