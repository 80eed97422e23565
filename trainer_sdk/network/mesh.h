#ifndef MUSTER_TRAINER_SDK_NETWORK_MESH_H_
#define MUSTER_TRAINER_SDK_NETWORK_MESH_H_

#include <cstdint>

#include "absl/status/status.h"
#include "base/time.h"
#include "trainer_sdk/network/peer_name.h"
#include "trainer_sdk/process_group/dtype.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {

// What tells one point-to-point message from another, and what both ends must
// agree on.
struct MessageLabel {
  int tag = 0;
  DType dtype = DType::kFloat32;
  int64_t count = 0;
};

// A receive that was posted: its number in the operation.
using Ticket = int;

// Ordered messages between every two ranks of a group: all that the algorithms
// of this folder need of a network. A collective's parts from one peer arrive
// in the order of their sending and go to the receives in the order of their
// posting; point-to-point messages likewise, per peer and tag.
//
// One thread at a time calls everything but Close. Errors are those of
// Transport, naming the peer; after the first the mesh is good for Close only.
class Mesh {
 public:
  virtual ~Mesh() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual const PeerName& name(int peer) const = 0;

  // Begins an operation: whatever is posted until Finish belongs to it and has
  // its deadline. What peers say that they are doing under the same sequence
  // number is compared with it.
  virtual absl::Status Begin(const OperationSignature& signature,
                             Instant deadline) = 0;

  // Sends without waiting. `data` may change after Flush or Finish.
  virtual void Send(int peer, const void* data, int64_t bytes) = 0;
  virtual void SendMessage(int peer, const MessageLabel& label,
                           const void* data) = 0;

  // Posts a receive; `data` is written until Wait says that it is there.
  virtual Ticket Receive(int peer, void* data, int64_t bytes) = 0;
  virtual Ticket ReceiveMessage(int peer, const MessageLabel& label,
                                void* data) = 0;

  // Waits until what `ticket` stands for is there, sending meanwhile.
  virtual absl::Status Wait(Ticket ticket) = 0;

  // Waits until what was sent so far may change.
  virtual absl::Status Flush() = 0;

  // Ends the operation, of which every receive has been waited for.
  virtual absl::Status Finish() = 0;

  // Whether a peer has closed its connection since the last call, be it that it
  // left, died or gave the group up. Never waits.
  virtual bool PeerHungUp() = 0;

  // Cuts every connection, so that peers and a call under way notice. Any
  // thread, any time.
  virtual void Close() = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_MESH_H_
