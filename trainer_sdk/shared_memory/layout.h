#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_LAYOUT_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_LAYOUT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/time.h"
#include "trainer_sdk/process_group/signature.h"

// The layout of the memory that the ranks of a group share. All bytes are
// initially zero, as in a new memory file. The comments on structures and
// fields say which rank writes them. Data that one rank writes and others read
// is published by an atomic.

namespace muster {

// The alignment in bytes that keeps data of different writers on different
// cache lines.
inline constexpr int64_t kCacheLine = 64;
// number of staging slots; see Collectives
inline constexpr int kStagingSlots = 3;
inline constexpr int kMaxCores = 1024;

// Ranks may be processes, and only lock-free atomics work across processes.
static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(std::atomic<uint32_t>::is_always_lock_free);

// A futex on which ranks sleep until a condition becomes true. A rank that may
// have made the condition true rings the bell, which wakes the sleeping ranks.
struct alignas(kCacheLine) Bell {
  std::atomic<uint32_t> rings;  // the futex; how often the bell was rung
  std::atomic<uint32_t> sleepers;
};

// The position of a buffer in the symmetric heap; valid in every process.
struct HeapPlace {
  // number of the heap segment, from 1; 0: the buffer is not in the heap
  uint64_t segment = 0;
  int64_t offset = 0;  // bytes from the start of the rank's part of the segment
};

// How a rank makes its input of a collective available to the other ranks.
enum class Offer : uint32_t {
  kNone,  // the rank has no input
  // the rank's staging slot contains its input, or the first part of an input
  // that is longer than a slot
  kStaged,
  kDirect,  // the rank's buffers are in the heap: peers access them directly
};

// One rank's call of a collective, which the rank publishes for the other
// ranks. The call is valid once `stamp` is the number of the collective;
// collectives are counted from 1.
struct alignas(kCacheLine) Call {
  std::atomic<uint64_t> stamp;
  OperationSignature signature;
  Offer offer;
  // 1 + the size in bytes that was passed to Allocate; 0: the call is not an
  // allocation
  int64_t allocation;
  alignas(kCacheLine) HeapPlace input;
  HeapPlace output;
};

// The state of one rank. Only this rank writes it, except `bell`, which other
// ranks also write when they wake this rank.
struct alignas(2 * kCacheLine) RankPage {
  // The call of collective number k is in calls[k % 2]. Two entries are enough.
  // A rank publishes call k + 2 only after it has seen call k + 1 of all ranks.
  // By then all ranks have finished collective k.
  Call calls[2];
  // The number of synchronization points inside collectives that the rank has
  // reached, counted over all collectives.
  alignas(kCacheLine) std::atomic<uint64_t> phase;
  std::atomic<uint32_t> left;  // 1: the rank has destroyed its transport
  Bell bell;  // wakes this rank; rung for messages to and from this rank
  // The rank's process id, written before the group is complete.
  alignas(kCacheLine) int64_t pid;
  char host[64];
  uint64_t cores[kMaxCores / 64];  // cores on which the rank may run
  // Whether the last Allocate failed to reserve the memory of this rank's part.
  int32_t allocation_failed;
};

// The state of the whole group.
struct GroupPage {
  // 0: the group is usable. Otherwise 1 + the number of the rank that broke the
  // group. The bit kCauseComplete is added once `code` and `text` are written.
  alignas(kCacheLine) std::atomic<uint32_t> broken;
  int32_t code;
  char text[4096];
  Bell bell;  // wakes ranks that wait for anything except messages
};
inline constexpr uint32_t kCauseComplete = 0x80000000u;

// The read and write positions of the ring buffer from one rank to another.
// Each position is the number of bytes written or read since the ring was
// created, so it never decreases.
struct Channel {
  // number of bytes written so far; advanced by the sender
  alignas(kCacheLine) std::atomic<uint64_t> written;
  // number of bytes read so far; advanced by the receiver
  alignas(kCacheLine) std::atomic<uint64_t> read;
};

// The header of a point-to-point message, in the ring buffer from the message's
// sender to its receiver.
struct alignas(kCacheLine) MessageHeader {
  // The number of the sender's last collective (OperationContext::sequence).
  uint64_t sequence;
  int64_t count;
  int32_t tag;
  DType dtype;
  // The position of the message's data (the payload) in the symmetric heap;
  // segment 0 if the payload follows this header in the ring.
  HeapPlace place;
};

// The offsets in bytes of all parts of the group's shared memory. Pure.
class Layout {
 public:
  // `slot_bytes`: size of a staging slot. `channel_bytes`: size of a ring
  // buffer. Both are rounded up to whole pages.
  Layout(int size, int64_t slot_bytes, int64_t channel_bytes);

  int size() const { return size_; }
  int64_t slot_bytes() const { return slot_bytes_; }
  int64_t channel_bytes() const { return channel_bytes_; }

  // The size in bytes of the first part of the memory, which every rank uses.
  // This part contains the GroupPage, the RankPages, the counts of the ranks'
  // operations, and the read and write positions of the ring buffers (Channel).
  int64_t common_bytes() const { return staging_; }
  // staging: the offset in bytes of the first staging slot of `rank`.
  // staging_bytes: the size of all staging slots of one rank.
  int64_t staging(int rank) const { return staging_ + rank * staging_bytes(); }
  int64_t staging_bytes() const { return kStagingSlots * slot_bytes_; }
  int64_t ring(int from, int to) const {
    return rings_ + (int64_t{from} * size_ + to) * channel_bytes_;
  }
  int64_t total_bytes() const {
    return rings_ + int64_t{size_} * size_ * channel_bytes_;
  }

  int64_t rank_page(int rank) const;
  // The offset in bytes, in the shared memory, of the counts of the operation
  // that `rank` has published in RankPage::calls[parity]: the array
  // counts[size], followed by receive_counts[size].
  int64_t counts(int rank, int parity) const;
  int64_t channel(int from, int to) const;

 private:
  int size_;
  int64_t slot_bytes_;
  int64_t channel_bytes_;
  int64_t rank_pages_;
  int64_t counts_;
  int64_t channels_;
  int64_t staging_;
  int64_t rings_;
};

inline constexpr int64_t kPageBytes = 4096;

constexpr int64_t RoundUp(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Wakes all ranks that sleep at the bell, in every process.
void Ring(Bell& bell);

// Rings the bell only if ranks sleep at it. Before the call, the caller must
// make the awaited condition true by a sequentially consistent store. Then no
// wake-up is lost: a rank that is about to sleep either sees that the condition
// is true, or has registered at the bell, so that this call wakes it.
inline void RingIfHeard(Bell& bell) {
  if (bell.sleepers.load(std::memory_order_seq_cst) != 0) Ring(bell);
}

// Registers the calling thread as a sleeper at a bell for as long as the object
// lives. Between the construction and Sleep, the thread must check the
// condition for which it waits once more: if the condition became true before
// the construction, no rank has rung the bell for this thread.
class Sleeper {
 public:
  explicit Sleeper(Bell& bell) : bell_(bell) {
    bell_.sleepers.fetch_add(1, std::memory_order_seq_cst);
    seen_ = bell_.rings.load(std::memory_order_seq_cst);
  }
  ~Sleeper() { bell_.sleepers.fetch_sub(1, std::memory_order_seq_cst); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  // Sleeps until another rank has rung the Bell that was passed to the
  // constructor, or `longest` has passed. Returns at once if the Bell has rung
  // since the construction. May also return spuriously.
  void Sleep(Duration longest) const;

 private:
  Bell& bell_;
  uint32_t seen_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_LAYOUT_H_
