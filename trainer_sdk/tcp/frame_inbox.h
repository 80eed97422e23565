#ifndef MUSTER_TRAINER_SDK_TCP_FRAME_INBOX_H_
#define MUSTER_TRAINER_SDK_TCP_FRAME_INBOX_H_

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/tcp/frame_connection.h"

namespace muster {

// Matches arriving frames with posted receives, and detects ranks that perform
// different operations. Pure, apart from the memory that it fills.
//
// Parts of a collective go to the receives of that collective, in order. Parts
// of a later collective stay on the connection until this rank begins that
// collective. A message without a receive is kept in this object, up to a
// limit. A message that stays on the connection could block later frames for
// which receives wait. A part without a receive is kept for the same reason,
// but only while a receive waits for a message.
class FrameInbox : public FrameSink {
 public:
  // `rank`: this rank. `names`: the names of all ranks, indexed by rank.
  // `keep_bytes`: limit in bytes for the data of all frames that are kept
  // because their receive has not been posted yet.
  FrameInbox(int rank, std::vector<PeerName> names, int64_t keep_bytes);

  // Begins an operation, and removes the receives that were posted for the
  // previous operation. FailedPrecondition: a peer has already announced a
  // different operation.
  absl::Status Begin(const OperationSignature& signature);

  Ticket Post(int peer, void* data, int64_t bytes);
  Ticket PostMessage(int peer, const MessageLabel& label, void* data);

  bool done(Ticket ticket) const { return receives_[ticket].done; }
  int peer(Ticket ticket) const { return receives_[ticket].peer; }
  // OK, or the reason why the receive can never complete.
  const absl::Status& status(Ticket ticket) const {
    return receives_[ticket].status;
  }
  // Awaits: whether receives from `peer` are pending. AwaitedBytes: the total
  // length of these receives, for error messages.
  bool Awaits(int peer) const { return !waiting_[peer].empty(); }
  int64_t AwaitedBytes(int peer) const;

  absl::StatusOr<FramePlace> Place(int peer,
                                   const FrameHeader& header) override;
  void Placed(int peer, const FrameHeader& header) override;

 private:
  struct Posted {
    int peer = 0;
    bool message = false;
    MessageLabel label;
    char* data = nullptr;
    int64_t bytes = 0;
    bool placed = false;
    bool done = false;
    absl::Status status;
  };
  struct Kept {
    FrameHeader header;
    std::vector<char> data;
    bool complete = false;
  };

  Ticket Add(Posted posted);
  // Returns the first receive that matches `header` and has no frame yet; -1 if
  // there is none.
  Ticket FirstFor(int peer, const FrameHeader& header) const;
  absl::Status Fits(const Posted& posted, const FrameHeader& header) const;
  // `theirs` is an operation that `peer` called. FailedPrecondition: this
  // rank's operation with the same sequence number is a different one. OK if
  // this rank has not called its operation yet, or called it long ago.
  absl::Status Compare(int peer, const OperationSignature& theirs) const;
  absl::Status Overtaken(int peer, const OperationSignature& theirs) const;
  bool AwaitsPart(int peer) const;
  bool AwaitsMessage(int peer) const;
  absl::StatusOr<FramePlace> PlaceAnnouncement(int peer,
                                               const FrameHeader& header);
  absl::StatusOr<FramePlace> Keep(int peer, const FrameHeader& header);
  void Complete(Ticket ticket);

  const int rank_;
  const std::vector<PeerName> names_;
  const int64_t keep_bytes_;
  int64_t kept_bytes_ = 0;
  int kept_frames_ = 0;

  OperationSignature current_;  // the last collective that this rank began
  OperationSignature asked_;    // the latest operation that this rank began
  static constexpr int kHistory = 64;
  // recent collectives of this rank, indexed by sequence % kHistory
  std::array<OperationSignature, kHistory> history_;

  // posted receives of the current operation, indexed by ticket
  std::vector<Posted> receives_;
  // For each peer: the pending receives, in the order in which they were
  // posted.
  std::vector<std::deque<Ticket>> waiting_;
  // For each peer: the frames that arrived before their receive was posted.
  std::vector<std::deque<Kept>> kept_;
  // For each peer: the receive to which the data of a frame is being written
  // now; kToKept if the frame will be kept; kNobody if no frame is arriving.
  std::vector<Ticket> arriving_;
  // For each peer: the collectives that the peer has announced, but this rank
  // has not begun yet.
  std::vector<std::deque<OperationSignature>> announced_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_FRAME_INBOX_H_
