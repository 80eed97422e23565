#ifndef MUSTER_TRAINER_SDK_GLOO_PEER_WATCH_H_
#define MUSTER_TRAINER_SDK_GLOO_PEER_WATCH_H_

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "trainer_sdk/network/hangup_watch.h"

namespace muster {

// Detects the death of a peer by an idle connection to each peer. If a
// connection ends without a goodbye, the peer's process died or cut it. Gloo
// alone does not detect such a death: if a connection breaks while a payload is
// in flight, that payload is on none of its lists and waits forever.
class PeerWatch {
 public:
  // Called at most once, on the watch's own thread.
  using OnGone = std::function<void(int peer)>;

  // `sockets`: connections to the peers, indexed by rank; not open for this
  // rank. `grace`: delay from the first peer's end to the call of `on_gone`,
  // during which data that the peer sent before may still arrive.
  // ResourceExhausted: no descriptor or thread is left.
  static absl::StatusOr<std::unique_ptr<PeerWatch>> Start(
      std::vector<OwnedFd> sockets, Duration grace, OnGone on_gone);

  // Says goodbye to the peers unless Cut was called. After it returns,
  // `on_gone` is not running.
  ~PeerWatch();
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  // Whether a peer closed its connection since the last call. Does not wait for
  // `grace`. Not thread-safe.
  bool PeerHungUp() { return hangups_.Any(); }

  // Closes the connections without a goodbye, so that the peers notice. Any
  // thread, any time.
  void Cut();

 private:
  PeerWatch(std::vector<OwnedFd> sockets, Duration grace, OnGone on_gone);
  void Run();
  // Blocks until a connection ends and returns its peer; kNobody when the watch
  // ends.
  int AwaitEnd();
  void Wake();

  static constexpr int kNobody = -1;

  const std::vector<OwnedFd> sockets_;
  const Duration grace_;
  const OnGone on_gone_;
  const OwnedFd wake_;  // an eventfd that is readable once the watch is over
  std::atomic<bool> cut_{false};
  HangupWatch hangups_;
  std::thread thread_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_GLOO_PEER_WATCH_H_
