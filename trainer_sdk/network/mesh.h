#ifndef MUSTER_TRAINER_SDK_NETWORK_MESH_H_
#define MUSTER_TRAINER_SDK_NETWORK_MESH_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/process_group/dtype.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {

// The name of a rank in messages.
struct PeerName {
  int rank = 0;
  std::string host;
  int64_t pid = 0;
};

// The name of this process as `rank`.
PeerName OwnName(int rank);

// Formats a name: "rank 3 (host node7, pid 4711)".
std::string Describe(const PeerName& name);

// Converts a name to its text in the store, "PID HOST", and back. Decoding any
// other text gives InvalidArgument.
std::string Encoded(const PeerName& name);
absl::StatusOr<PeerName> DecodePeerName(int rank, const std::string& text);

// The label of a point-to-point message; sender and receiver must agree on it.
struct MessageLabel {
  int tag = 0;
  DType dtype = DType::kFloat32;
  int64_t count = 0;
};

// The index of a posted receive in the current operation.
using Ticket = int;

// The interface of a network for the algorithms of this folder: ordered
// messages between every two ranks of a group. The parts of a collective from
// one peer arrive in the order in which they were sent, and fill the receives
// in the order in which those were posted. The same holds for point-to-point
// messages of one peer and tag.
//
// Not thread-safe, except for Close. Errors are those of Transport and name the
// peer. After the first error only Close may be called.
class Mesh {
 public:
  virtual ~Mesh() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual const PeerName& name(int peer) const = 0;

  // Begins an operation. All sends and receives until Finish belong to the
  // operation and have its deadline. `signature` is compared with the
  // operations that peers announce under the same sequence number.
  virtual absl::Status Begin(const OperationSignature& signature,
                             Instant deadline) = 0;

  // Starts a send; does not block. `data` may be changed after Flush or Finish.
  virtual void Send(int peer, const void* data, int64_t bytes) = 0;
  virtual void SendMessage(int peer, const MessageLabel& label,
                           const void* data) = 0;

  // Posts a receive. `data` may be written until Wait has returned.
  virtual Ticket Receive(int peer, void* data, int64_t bytes) = 0;
  virtual Ticket ReceiveMessage(int peer, const MessageLabel& label,
                                void* data) = 0;

  // Blocks until the receive of `ticket` is complete. Queued data is sent
  // meanwhile.
  virtual absl::Status Wait(Ticket ticket) = 0;

  // Blocks until the data of all sends may be changed.
  virtual absl::Status Flush() = 0;

  // Ends the operation. Every receive must have been waited for.
  virtual absl::Status Finish() = 0;

  // Whether a peer has closed its connection since the last call: the peer
  // left, died or gave the group up. Does not block.
  virtual bool PeerHungUp() = 0;

  // Closes every connection, which peers and a running call notice. Any thread,
  // any time.
  virtual void Close() = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_MESH_H_
