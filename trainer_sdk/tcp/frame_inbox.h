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
#include "trainer_sdk/network/peer_name.h"
#include "trainer_sdk/tcp/frame.h"
#include "trainer_sdk/tcp/frame_connection.h"

namespace muster {

// Brings what arrives and what is asked for together, and finds out whether
// the ranks mean the same. Pure but for the memory it is told to fill.
//
// Parts of a collective go to the receives of that collective in order; those
// of a later one stay on the connection until it begins. Messages that nobody
// asked for yet are kept, within bounds, because what is asked for may be
// behind them.
class FrameInbox : public FrameSink {
 public:
  // `rank`: this one. `names` by rank. `keep_bytes`: of early data in all.
  FrameInbox(int rank, std::vector<PeerName> names, int64_t keep_bytes);

  // Forgets the receives of the operation before. FailedPrecondition where a
  // peer has already said that it does something else.
  absl::Status Begin(const OperationSignature& signature);

  Ticket Post(int peer, void* data, int64_t bytes);
  Ticket PostMessage(int peer, const MessageLabel& label, void* data);

  bool done(Ticket ticket) const { return receives_[ticket].done; }
  int peer(Ticket ticket) const { return receives_[ticket].peer; }
  // Why a receive will never be done.
  const absl::Status& status(Ticket ticket) const {
    return receives_[ticket].status;
  }
  // Whether anything of `peer` is still awaited, and how much, for messages.
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
  // The first receive not yet placed that `header` is for; -1: none.
  Ticket FirstFor(int peer, const FrameHeader& header) const;
  absl::Status Fits(const Posted& posted, const FrameHeader& header) const;
  // Whether `peer` does what this rank does, or did, under that number.
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

  OperationSignature current_;  // the newest collective
  OperationSignature asked_;    // the operation now
  static constexpr int kHistory = 64;
  std::array<OperationSignature, kHistory> history_;  // by sequence % kHistory

  std::vector<Posted> receives_;             // by ticket
  std::vector<std::deque<Ticket>> waiting_;  // by peer, not done, in order
  std::vector<std::deque<Kept>> kept_;       // by peer
  std::vector<Ticket> arriving_;             // by peer; kToKept, or a ticket
  std::vector<std::deque<OperationSignature>> announced_;  // by peer, later
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_FRAME_INBOX_H_
