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

// A Gloo context whose pairs exist before they are connected, so that a Connect
// can be interrupted; Gloo's own rendezvous cannot. Everything may throw what
// Gloo throws.
//
// closeConnections resets connections. A peer that has not accepted one yet is
// ended by that: Gloo's thread there finds it without a peer's name, and throws
// (Gloo of May 2022). So it is not for a mesh that is still being connected;
// Interrupt is, and the context's own end, which closes softly.
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
  // its Addresses have for this rank. Nothing once interrupted.
  void Connect(int peer, const std::string& address);

  // Ends a Connect under way, which throws, and those to come. Any thread.
  void Interrupt();

 private:
  static constexpr int kNobody = -1;

  std::mutex mutex_;
  std::condition_variable over_;
  // Guarded by mutex_:
  bool interrupted_ = false;
  int connecting_ = kNobody;
  // Whether this rank calls the one it connects with, and is not called.
  bool calls_ = false;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_GLOO_MESH_CONTEXT_H_
