#include "trainer_sdk/shared_memory/exchange.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/shared_memory/message_queue.h"

namespace muster {
namespace {

// The state of one batch: a queue per peer and direction. Granted once any of
// them can move.
class Batch final : public Wish {
 public:
  Batch(Peers* peers, Heap* heap, uint64_t sequence)
      : peers_(peers), heap_(heap), sequence_(sequence) {}

  void Add(const PointToPoint& message) {
    if (message.kind == OperationKind::kSend) {
      for (SendQueue& one : sends_) {
        if (one.peer() == message.peer) return one.Add(message);
      }
      sends_.emplace_back(peers_, heap_, message.peer, sequence_).Add(message);
    } else {
      for (ReceiveQueue& one : receives_) {
        if (one.peer() == message.peer) return one.Add(message);
      }
      receives_.emplace_back(peers_, heap_, message.peer).Add(message);
    }
  }

  absl::Status Move() {
    for (SendQueue& one : sends_) one.Move();
    for (ReceiveQueue& one : receives_) {
      absl::Status moved = one.Move();
      if (!moved.ok()) return moved;
    }
    return absl::OkStatus();
  }

  bool done() const {
    const auto is_done = [](const auto& one) { return one.done(); };
    return std::all_of(sends_.begin(), sends_.end(), is_done) &&
           std::all_of(receives_.begin(), receives_.end(), is_done);
  }

  bool Granted() const override {
    const auto can_move = [](const auto& one) { return one.CanMove(); };
    return std::any_of(sends_.begin(), sends_.end(), can_move) ||
           std::any_of(receives_.begin(), receives_.end(), can_move);
  }

  std::vector<int> Absent() const override {
    std::vector<int> absent;
    for (const SendQueue& one : sends_) {
      if (!one.done()) absent.push_back(one.peer());
    }
    for (const ReceiveQueue& one : receives_) {
      if (!one.done()) absent.push_back(one.peer());
    }
    std::sort(absent.begin(), absent.end());
    absent.erase(std::unique(absent.begin(), absent.end()), absent.end());
    return absent;
  }

  std::string Tell(int rank) const override {
    std::string text;
    for (const ReceiveQueue& one : receives_) {
      if (one.peer() == rank && !one.done()) text = one.Tell();
    }
    for (const SendQueue& one : sends_) {
      if (one.peer() == rank && !one.done()) {
        absl::StrAppend(&text, text.empty() ? "" : " and ", one.Tell());
      }
    }
    return text;
  }

 private:
  Peers* const peers_;
  Heap* const heap_;
  const uint64_t sequence_;
  std::vector<SendQueue> sends_;
  std::vector<ReceiveQueue> receives_;
};

}  // namespace

absl::Status Exchange::ReserveRing(int to) {
  if (reserved_[to] != 0) return absl::OkStatus();
  absl::Status reserved = ReservePages(
      peers_->memory_fd(), peers_->layout().ring(peers_->rank(), to),
      peers_->layout().channel_bytes());
  if (reserved.ok()) reserved_[to] = 1;
  return reserved;
}

absl::Status Exchange::Execute(const std::vector<PointToPoint>& messages,
                               const Waiting& waiting) {
  Batch batch(peers_, heap_, waiting.signature.sequence);
  for (const PointToPoint& message : messages) {
    if (message.kind == OperationKind::kSend) {
      absl::Status reserved = ReserveRing(message.peer);
      if (!reserved.ok()) return reserved;
    }
    batch.Add(message);
  }
  while (true) {
    if (absl::Status moved = batch.Move(); !moved.ok()) {
      return peers_->Break(absl::Status(
          moved.code(), absl::StrCat(Describe(waiting.signature), ": ",
                                     std::string(moved.message()))));
    }
    if (batch.done()) return absl::OkStatus();
    absl::Status waited =
        peers_->Await(batch, peers_->own_page().bell, waiting);
    if (!waited.ok()) return waited;
  }
}

}  // namespace muster
