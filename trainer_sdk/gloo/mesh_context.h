#ifndef MUSTER_TRAINER_SDK_GLOO_MESH_CONTEXT_H_
#define MUSTER_TRAINER_SDK_GLOO_MESH_CONTEXT_H_

#include <gloo/context.h>
#include <gloo/transport/device.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace muster {

// A Gloo context whose pairs are created before they are connected, so that
// Connect can be interrupted; Gloo's own rendezvous cannot. Every method may
// throw Gloo's exceptions.
//
// closeConnections resets connections. That kills a peer that has not accepted
// its connection yet: Gloo's thread there finds a connection without a peer's
// name and throws (Gloo of May 2022). So do not call it while the mesh is being
// connected. Use Interrupt, or destroy the context, which closes gracefully.
class MeshContext final : public gloo::Context {
 public:
  // `patience` bounds each wait of a pair, except that in Connect, which may
  // last five times as long.
  MeshContext(int rank, int size,
              std::shared_ptr<gloo::transport::Device> device,
              std::chrono::milliseconds patience);

  // The address with which each peer connects, by rank; empty for this one.
  std::vector<std::string> Addresses();

  // Blocks until `peer`, which calls this too, is connected. `address`: the
  // entry for this rank in the peer's Addresses. Does nothing once interrupted.
  void Connect(int peer, const std::string& address);

  // Makes a running Connect throw, and later ones. Any thread.
  void Interrupt();

 private:
  static constexpr int kNobody = -1;

  std::mutex mutex_;
  std::condition_variable over_;
  // Guarded by mutex_:
  bool interrupted_ = false;
  int connecting_ = kNobody;
  // Whether this rank dials the peer, instead of accepting its connection.
  bool calls_ = false;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_GLOO_MESH_CONTEXT_H_
