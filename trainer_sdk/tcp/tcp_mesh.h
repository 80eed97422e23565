#ifndef MUSTER_TRAINER_SDK_TCP_TCP_MESH_H_
#define MUSTER_TRAINER_SDK_TCP_TCP_MESH_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "trainer_sdk/network/hangup_watch.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/network/peer_name.h"
#include "trainer_sdk/tcp/frame_connection.h"
#include "trainer_sdk/tcp/frame_inbox.h"

namespace muster {

// A mesh of TCP connections. The calling thread does all the work: it polls for
// a while and then sleeps in poll(). There is no other thread, so that small
// messages are fast.
class TcpMesh final : public Mesh {
 public:
  // The behaviour of a wait between two polls.
  enum class Between {
    kSpin,   // none: each rank of this host has its own core
    kYield,  // yields the core, since the awaited ranks may need it
  };

  struct Options {
    Between between;
    // How long a wait polls before it sleeps.
    Duration spin;
    // Bound in bytes for messages that arrive before they are received.
    int64_t keep_bytes;
    // The longest time that the destructor waits for peers to receive what was
    // sent.
    Duration linger;
  };

  // `sockets` are connected, one for each rank but this one.
  TcpMesh(int rank, std::vector<PeerName> names, std::vector<OwnedFd> sockets,
          const Options& options);
  // Says goodbye and waits until the peers have received what was sent to them.
  ~TcpMesh() override;

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(names_.size()); }
  const PeerName& name(int peer) const override { return names_[peer]; }
  absl::Status Begin(const OperationSignature& signature,
                     Instant deadline) override;
  void Send(int peer, const void* data, int64_t bytes) override;
  void SendMessage(int peer, const MessageLabel& label,
                   const void* data) override;
  Ticket Receive(int peer, void* data, int64_t bytes) override;
  Ticket ReceiveMessage(int peer, const MessageLabel& label,
                        void* data) override;
  absl::Status Wait(Ticket ticket) override;
  absl::Status Flush() override;
  absl::Status Finish() override;
  bool PeerHungUp() override { return hangups_.Any(); }
  void Close() override;

 private:
  static constexpr int kEverybody = -1;

  // Sends and receives until `done` returns true. `peer` is the most likely
  // source of the missing data.
  absl::Status Until(const std::function<bool()>& done, int peer);
  // One poll: writes what is queued and reads from `peer`, or from all peers.
  // Returns whether any data moved.
  absl::StatusOr<bool> Try(int peer);
  absl::StatusOr<bool> ReadFrom(int peer);
  // Sleeps until a socket is ready or the deadline has passed.
  void Sleep();
  void Announce();
  int64_t outgoing() const;
  absl::Status Late() const;
  absl::Status Gone(int peer) const;

  const int rank_;
  const std::vector<PeerName> names_;
  const Options options_;
  OwnedFd wake_;  // an eventfd
  std::atomic<bool> closed_{false};

  FrameInbox inbox_;
  std::vector<std::unique_ptr<FrameConnection>>
      connections_;  // null for `rank_`
  HangupWatch hangups_;

  OperationSignature signature_;
  Instant begun_;
  Instant deadline_;
  bool announced_ = true;  // whether the next rank knows of the operation
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_TCP_MESH_H_
