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

// Notices the end of a peer by a connection to each that nothing is sent over:
// where it ends without a goodbye, the peer's process died or the peer cut it.
// Gloo alone does not: whose payload is on its way when a connection breaks is
// on none of its lists and waits for ever.
class PeerWatch {
 public:
  // Called once at most, by the watch's own thread.
  using OnGone = std::function<void(int peer)>;

  // `sockets`: by rank, none for this one. `grace`: from the first peer's end
  // until `on_gone`, for what it had sent before and is still on its way.
  // ResourceExhausted: no descriptor or thread is left.
  static absl::StatusOr<std::unique_ptr<PeerWatch>> Start(
      std::vector<OwnedFd> sockets, Duration grace, OnGone on_gone);

  // Says goodbye, unless Cut was called. No call of `on_gone` is under way
  // afterwards.
  ~PeerWatch();
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  // Whether a peer closed its connection since the last call. One thread at a
  // time; does not wait for `grace`.
  bool PeerHungUp() { return hangups_.Any(); }

  // Ends the connections without a goodbye, so that the peers notice. Any
  // thread, any time.
  void Cut();

 private:
  PeerWatch(std::vector<OwnedFd> sockets, Duration grace, OnGone on_gone);
  void Run();
  // The first peer whose connection ends; kNobody when the watch is over.
  int AwaitEnd();
  void Wake();

  static constexpr int kNobody = -1;

  const std::vector<OwnedFd> sockets_;
  const Duration grace_;
  const OnGone on_gone_;
  const OwnedFd wake_;  // an eventfd, readable once the watch is over
  std::atomic<bool> cut_{false};
  HangupWatch hangups_;
  std::thread thread_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_GLOO_PEER_WATCH_H_
