#ifndef MUSTER_TRAINER_SDK_NETWORK_MESH_H_
#define MUSTER_TRAINER_SDK_NETWORK_MESH_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "trainer_sdk/process_group/dtype.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {

// The identity of a rank, for error messages.
struct PeerName {
  int rank = 0;
  std::string host;
  int64_t pid = 0;
};

// Returns the name of this process as a member of a group: its host, its pid
// and its rank in the group, which is `rank`.
PeerName OwnName(int rank);

// Formats a rank's name for messages: "rank 3 (host node7, pid 4711)".
std::string Describe(const PeerName& name);

// Encoded converts a rank's name to its text in the store, "PID HOST";
// DecodePeerName converts it back. Decoding any other text gives
// InvalidArgument.
std::string Encoded(const PeerName& name);
absl::StatusOr<PeerName> DecodePeerName(int rank, const std::string& text);

// The label of a point-to-point message. Sender and receiver must use equal
// labels.
struct MessageLabel {
  int tag = 0;
  DType dtype = DType::kFloat32;
  int64_t count = 0;
};

// Identifies a receive that was posted in the current operation: its index
// among all receives of this operation.
using Ticket = int;

// A network as the collective algorithms see it: ordered messages between every
// two ranks of a group. The n-th part of a collective that a peer sends to this
// rank goes to the n-th receive that this rank posts for that peer. In the same
// way, the n-th point-to-point message of a peer with a tag goes to the n-th
// receive for this peer and tag.
//
// Not thread-safe, except for Close. Errors are those of Transport and name the
// peer. After the first error only Close may be called.
class Mesh {
 public:
  virtual ~Mesh() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual const PeerName& name(int peer) const = 0;

  // Begins an operation. All sends and receives until Finish belong to this
  // operation and have its deadline. Peers announce the operations that they
  // call. To detect a mismatch, the mesh compares `signature` with the
  // announcements that have the same sequence number.
  virtual absl::Status Begin(const OperationSignature& signature,
                             Instant deadline) = 0;

  // Starts a send; does not block. `data` must not be changed until Flush or
  // Finish returns.
  virtual void Send(int peer, const void* data, int64_t bytes) = 0;
  virtual void SendMessage(int peer, const MessageLabel& label,
                           const void* data) = 0;

  // Posts a receive. `data` may be written at any time until Wait has returned.
  virtual Ticket Receive(int peer, void* data, int64_t bytes) = 0;
  virtual Ticket ReceiveMessage(int peer, const MessageLabel& label,
                                void* data) = 0;

  // Blocks until the receive of `ticket` is complete. Sends queued data while
  // it waits.
  virtual absl::Status Wait(Ticket ticket) = 0;

  // Blocks until the data of all sends has been sent or copied, so that the
  // caller may change it.
  virtual absl::Status Flush() = 0;

  // Completes the operation that Begin began: blocks until the data of all
  // sends has been sent or copied. Wait must have been called for every receive
  // before.
  virtual absl::Status Finish() = 0;

  // Whether a peer has closed its connection since the last call, because the
  // peer left, died or gave up the group. Does not block.
  virtual bool PeerHungUp() = 0;

  // Closes every connection. Peers notice this, and a running call of this rank
  // fails. Any thread, any time.
  virtual void Close() = 0;
};

// Detects whether peers have closed connections of a mesh since the last check.
// A check is one system call, O(1) in the number of connections, so it can be
// made in every operation. Not thread-safe.
class HangupWatch {
 public:
  HangupWatch();

  // Adds a connection. `socket` must be connected, and must stay open as long
  // as this object lives.
  void Add(int socket);

  // Whether a peer has closed its end of any connection since the last call of
  // Any. Each close is reported once. Data that the peer sent before the close
  // may still be unread. Always true if the system could not watch the
  // connections (epoll), for example because no descriptor was left.
  bool Any();

 private:
  OwnedFd epoll_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_MESH_H_
