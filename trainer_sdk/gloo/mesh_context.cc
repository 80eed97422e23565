#include "trainer_sdk/gloo/mesh_context.h"

#include <gloo/transport/address.h>
#include <gloo/transport/context.h>
#include <gloo/transport/pair.h>

#include <utility>

namespace muster {

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
  getPair(peer)->connect(std::vector<char>(address.begin(), address.end()));
}

}  // namespace muster
