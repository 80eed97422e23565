#ifndef MUSTER_TRAINER_SDK_GLOO_MESH_CONTEXT_H_
#define MUSTER_TRAINER_SDK_GLOO_MESH_CONTEXT_H_

#include <gloo/context.h>
#include <gloo/transport/device.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace muster {

// A Gloo context whose pairs exist before they are connected, so that
// closeConnections ends a Connect under way; Gloo's own rendezvous cannot be
// interrupted. Everything may throw what Gloo throws.
class MeshContext final : public gloo::Context {
 public:
  // `patience` bounds each wait of a pair but the one in Connect, which lasts
  // five times as long.
  MeshContext(int rank, int size,
              std::shared_ptr<gloo::transport::Device> device,
              std::chrono::milliseconds patience);

  // What each peer connects with, by rank; empty for this one.
  std::vector<std::string> Addresses();

  // Waits until `peer`, which calls this too, is connected. `address` is what
  // its Addresses have for this rank.
  void Connect(int peer, const std::string& address);
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_GLOO_MESH_CONTEXT_H_
