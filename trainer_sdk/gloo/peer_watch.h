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
#include "trainer_sdk/network/mesh.h"

namespace muster {

// Detects the death of a peer by an otherwise idle connection to each peer. A
// peer that leaves normally sends a goodbye message. If a connection ends
// without this message, the peer's process has died or has called Cut. Gloo
// alone does not detect every death. If a connection breaks in the middle of a
// payload, Gloo forgets that payload, and a wait for it never ends.
class PeerWatch {
 public:
  // Called at most once, on PeerWatch's own thread, with the rank of the peer
  // that died.
  using OnGone = std::function<void(int peer)>;

  // Starts the thread. `sockets`: connections to the peers, indexed by rank;
  // the entry of this rank is not open. `grace`: the delay between the end of
  // the first connection and the call of `on_gone`. During this delay, data
  // that the peer sent earlier can still arrive. ResourceExhausted: no
  // descriptor or thread is left.
  static absl::StatusOr<std::unique_ptr<PeerWatch>> Start(
      std::vector<OwnedFd> sockets, Duration grace, OnGone on_gone);

  // Sends a goodbye message to each peer, unless Cut was called. When the
  // destructor returns, `on_gone` is not running and will not be called.
  ~PeerWatch();
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  // Whether a peer has closed its connection since the last call of PeerHungUp.
  // Reports it immediately, without the delay (`grace`) of `on_gone`. Not
  // thread-safe.
  bool PeerHungUp() { return hangups_.Any(); }

  // Closes the connections without a goodbye message, so that the peers take
  // this rank for dead. Any thread, any time.
  void Cut();

 private:
  PeerWatch(std::vector<OwnedFd> sockets, Duration grace, OnGone on_gone);
  void Run();
  // Blocks until the connection to a peer ends without a goodbye message, and
  // returns that peer. Returns kNobody when Wake is called.
  int AwaitEnd();
  void Wake();

  static constexpr int kNobody = -1;

  const std::vector<OwnedFd> sockets_;
  const Duration grace_;
  const OnGone on_gone_;
  // an eventfd that becomes readable when the thread must end
  const OwnedFd wake_;
  std::atomic<bool> cut_{false};
  HangupWatch hangups_;
  std::thread thread_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_GLOO_PEER_WATCH_H_
