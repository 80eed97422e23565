#include "trainer_sdk/shared_memory/exchange.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/shared_memory/layout.h"

namespace muster {

void MessageRing::Write(const void* data, int64_t bytes) {
  const uint64_t position = channel_->written.load();
  const int64_t offset = static_cast<int64_t>(position % bytes_);
  const int64_t first = std::min(bytes, bytes_ - offset);
  std::memcpy(data_ + offset, data, first);
  std::memcpy(data_, static_cast<const char*>(data) + first, bytes - first);
  channel_->written.store(position + RoundUp(bytes, kCacheLine),
                          std::memory_order_seq_cst);
}

void MessageRing::Peek(void* data, int64_t bytes) const {
  const int64_t offset = static_cast<int64_t>(channel_->read.load() % bytes_);
  const int64_t first = std::min(bytes, bytes_ - offset);
  std::memcpy(data, data_ + offset, first);
  std::memcpy(static_cast<char*>(data) + first, data_, bytes - first);
}

void MessageRing::Read(void* data, int64_t bytes) {
  Peek(data, bytes);
  channel_->read.store(channel_->read.load() + RoundUp(bytes, kCacheLine),
                       std::memory_order_seq_cst);
}

namespace {

// A sender writes a long message to the ring in pieces of this many bytes. The
// receiver can copy one piece while the sender writes the next.
constexpr int64_t kPiece = 32 << 10;
// The smallest message size in bytes for which the receiver copies the payload
// directly from the symmetric heap.
constexpr int64_t kDirectFrom = 32 << 10;

MessageRing RingBetween(const Peers& peers, int from, int to) {
  return MessageRing(&peers.channel(from, to), peers.ring(from, to),
                     peers.layout().channel_bytes());
}

int64_t BytesOf(const PointToPoint& message) {
  return message.count * SizeOf(message.dtype);
}

std::string Describe(int64_t count, DType dtype, int tag) {
  return absl::StrCat(count, " ", Name(dtype), " (", count * SizeOf(dtype),
                      " bytes) with tag ", tag);
}

}  // namespace

SendQueue::SendQueue(Peers* peers, Heap* heap, int to, uint64_t sequence)
    : peers_(peers),
      heap_(heap),
      to_(to),
      sequence_(sequence),
      ring_(RingBetween(*peers, peers->rank(), to)) {}

bool SendQueue::CanMove() const {
  if (done()) return false;
  // If `direct_`, the payload of the current message is not written to the
  // ring: the receiver copies it from the symmetric heap, and then removes the
  // message's header from the ring. So the copy is complete once the ring is
  // empty.
  if (direct_) return ring_.Filled() == 0;
  return ring_.Space() > 0;
}

void SendQueue::Announce(const PointToPoint& message) {
  MessageHeader header = {};
  header.sequence = sequence_;
  header.count = message.count;
  header.tag = message.tag;
  header.dtype = message.dtype;
  if (BytesOf(message) >= kDirectFrom) {
    header.place = heap_->Find(message.data, BytesOf(message));
  }
  direct_ = header.place.segment != 0;
  announced_ = true;
  sent_ = 0;
  ring_.Write(&header, sizeof(header));
}

void SendQueue::Finish() {
  ++next_;
  announced_ = false;
  direct_ = false;
}

void SendQueue::Move() {
  const uint64_t before = ring_.written();
  while (CanMove()) {
    const PointToPoint& message = *messages_[next_];
    if (!announced_) {
      Announce(message);
    } else if (!direct_) {
      const int64_t piece =
          std::min({BytesOf(message) - sent_, ring_.Space(), kPiece});
      ring_.Write(static_cast<const char*>(message.data) + sent_, piece);
      sent_ += piece;
      RingIfHeard(peers_->page(to_).bell);
    } else {
      Finish();
      continue;
    }
    if (!direct_ && sent_ == BytesOf(message)) Finish();
  }
  if (ring_.written() != before) RingIfHeard(peers_->page(to_).bell);
}

std::string SendQueue::DescribeUnfinished() const {
  if (!announced_) return "has not received what was sent before";
  return absl::StrCat("has not received ",
                      Describe(messages_[next_]->count, messages_[next_]->dtype,
                               messages_[next_]->tag));
}

ReceiveQueue::ReceiveQueue(Peers* peers, Heap* heap, int from)
    : peers_(peers),
      heap_(heap),
      from_(from),
      ring_(RingBetween(*peers, from, peers->rank())) {}

absl::Status ReceiveQueue::Accept(const MessageHeader& header) {
  const auto expected = std::find_if(
      messages_.begin(), messages_.end(),
      [&](const PointToPoint* one) { return one->tag == header.tag; });
  if (expected == messages_.end() || (*expected)->count != header.count ||
      (*expected)->dtype != header.dtype) {
    const PointToPoint& wanted =
        expected == messages_.end() ? *messages_.front() : **expected;
    return absl::FailedPreconditionError(
        absl::StrCat("ranks called different things: ", peers_->Who(from_),
                     " called send after #", header.sequence, " of ",
                     Describe(header.count, header.dtype, header.tag), "; ",
                     peers_->Who(peers_->rank()), " called receive of ",
                     Describe(wanted.count, wanted.dtype, wanted.tag)));
  }
  current_ = *expected;
  received_ = 0;
  return absl::OkStatus();
}

void ReceiveQueue::Finish() {
  messages_.erase(std::find(messages_.begin(), messages_.end(), current_));
  current_ = nullptr;
}

absl::Status ReceiveQueue::Move() {
  while (CanMove()) {
    if (current_ == nullptr) {
      MessageHeader header;
      ring_.Peek(&header, sizeof(header));
      absl::Status accepted = Accept(header);
      if (!accepted.ok()) return accepted;
      if (header.place.segment != 0) {
        std::memcpy(current_->data, heap_->At(from_, header.place),
                    BytesOf(*current_));
        received_ = BytesOf(*current_);
      }
      // Remove the header from the ring only now, after the payload was copied:
      // the sender may reuse its buffer as soon as the header is removed.
      ring_.Read(&header, sizeof(header));
    } else {
      const int64_t piece =
          std::min({BytesOf(*current_) - received_, ring_.Filled(), kPiece});
      ring_.Read(static_cast<char*>(current_->data) + received_, piece);
      received_ += piece;
    }
    RingIfHeard(peers_->page(from_).bell);
    if (received_ == BytesOf(*current_)) Finish();
  }
  return absl::OkStatus();
}

std::string ReceiveQueue::DescribeUnfinished() const {
  const PointToPoint& next =
      current_ != nullptr ? *current_ : *messages_.front();
  return absl::StrCat(
      "has sent ",
      current_ == nullptr ? "nothing" : absl::StrCat(received_, " bytes"),
      " of the expected ", Describe(next.count, next.dtype, next.tag));
}

namespace {

// The state of one batch: a SendQueue for each receiver and a ReceiveQueue for
// each sender. As a WaitCondition it is true while at least one of these queues
// can make progress without blocking.
class Batch final : public WaitCondition {
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

  bool IsTrue() const override {
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

  std::string DescribeAbsent(int rank) const override {
    std::string text;
    for (const ReceiveQueue& one : receives_) {
      if (one.peer() == rank && !one.done()) text = one.DescribeUnfinished();
    }
    for (const SendQueue& one : sends_) {
      if (one.peer() == rank && !one.done()) {
        absl::StrAppend(&text, text.empty() ? "" : " and ",
                        one.DescribeUnfinished());
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
