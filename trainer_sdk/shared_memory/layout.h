#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_LAYOUT_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_LAYOUT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/time.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {

// The layout of the memory that the ranks of a group share. Everything is
// initially zero, as in a new memory file. The comments say which rank writes a
// field; data that one rank writes and others read is published by an atomic.

inline constexpr int64_t kCacheLine = 64;
inline constexpr int kStagingSlots = 3;  // see Collectives
inline constexpr int kMaxCores = 1024;

// The 64-bit and 32-bit atomics must work across processes.
static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(std::atomic<uint32_t>::is_always_lock_free);

// A futex on which ranks sleep. A rank that may have made their condition true
// rings it.
struct alignas(kCacheLine) Bell {
  std::atomic<uint32_t> rings;  // the futex word
  std::atomic<uint32_t> sleepers;
};

// The position of a buffer in the symmetric heap.
struct HeapPlace {
  uint64_t segment = 0;  // from 1; 0: not in the heap
  int64_t offset = 0;    // bytes from the start of its rank's part
};

// How a rank provides its input of a collective.
enum class Offer : uint32_t {
  kNone,    // it has no input
  kStaged,  // the first round is already in its staging slot
  kDirect,  // its buffers are in the heap: peers access them directly
};

// One rank's call of a collective. Complete once `stamp` is the number of this
// collective, which the transport counts from 1.
struct alignas(kCacheLine) Call {
  std::atomic<uint64_t> stamp;
  OperationSignature signature;
  Offer offer;
  int64_t allocation;  // 0, or 1 + the argument of Allocate
  alignas(kCacheLine) HeapPlace input;
  HeapPlace output;
};

// Written only by its own rank, except for the bell.
struct alignas(2 * kCacheLine) RankPage {
  // The call of collective k is in [k % 2]. Two are enough: a rank that posts k
  // + 2 has seen k + 1 of all ranks, so all ranks have finished k.
  Call calls[2];
  // Counts steps inside collectives, equally on every rank.
  alignas(kCacheLine) std::atomic<uint64_t> phase;
  std::atomic<uint32_t> left;  // set once it has destroyed its transport
  Bell bell;                   // for messages to and from this rank
  // Written before the group is complete.
  alignas(kCacheLine) int64_t pid;
  char host[64];
  uint64_t cores[kMaxCores / 64];  // cores on which it may run
  int32_t allocation_failed;  // set if its part of the last Allocate failed
};

// The state of the whole group.
struct GroupPage {
  // 0, or 1 + the rank that broke the group; with the bit kCauseComplete once
  // `code` and `text` are written.
  alignas(kCacheLine) std::atomic<uint32_t> broken;
  int32_t code;
  char text[4096];
  Bell bell;  // for everything except messages
};
inline constexpr uint32_t kCauseComplete = 0x80000000u;

// The ring of messages from one rank to another. The positions count bytes and
// only grow.
struct Channel {
  alignas(kCacheLine) std::atomic<uint64_t> written;  // advanced by the sender
  alignas(kCacheLine) std::atomic<uint64_t> read;  // advanced by the receiver
};

// The header of every message in a ring.
struct alignas(kCacheLine) MessageHeader {
  uint64_t sequence;  // from the sender's context
  int64_t count;
  int32_t tag;
  DType dtype;
  HeapPlace place;  // location of the payload, if it does not follow the header
};

// Offsets of all parts of the shared memory, in bytes. Pure.
class Layout {
 public:
  // `slot_bytes`: size of a staging slot. `channel_bytes`: size of a ring. Both
  // are rounded up to whole pages.
  Layout(int size, int64_t slot_bytes, int64_t channel_bytes);

  int size() const { return size_; }
  int64_t slot_bytes() const { return slot_bytes_; }
  int64_t channel_bytes() const { return channel_bytes_; }

  // Size of the part that every rank needs: pages, counts and channel
  // positions.
  int64_t common_bytes() const { return staging_; }
  // Offset of a rank's slots, and their total size.
  int64_t staging(int rank) const { return staging_ + rank * staging_bytes(); }
  int64_t staging_bytes() const { return kStagingSlots * slot_bytes_; }
  int64_t ring(int from, int to) const {
    return rings_ + (int64_t{from} * size_ + to) * channel_bytes_;
  }
  int64_t total_bytes() const {
    return rings_ + int64_t{size_} * size_ * channel_bytes_;
  }

  int64_t rank_page(int rank) const;
  // Offset of counts[size] followed by receive_counts[size], for the call at
  // [parity].
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

// Wakes all sleepers at the bell, in every process.
void Ring(Bell& bell);

// Rings only if there are sleepers. Correct only after a sequentially
// consistent store of their condition: then either a rank about to sleep sees
// that store, or this call sees the sleeper.
inline void RingIfHeard(Bell& bell) {
  if (bell.sleepers.load(std::memory_order_seq_cst) != 0) Ring(bell);
}

// Registers a sleeper while it lives. The condition must be checked again
// between construction and Sleep.
class Sleeper {
 public:
  explicit Sleeper(Bell& bell) : bell_(bell) {
    bell_.sleepers.fetch_add(1, std::memory_order_seq_cst);
    seen_ = bell_.rings.load(std::memory_order_seq_cst);
  }
  ~Sleeper() { bell_.sleepers.fetch_sub(1, std::memory_order_seq_cst); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  // Sleeps until the bell has rung since the construction, `longest` has
  // passed, or spuriously.
  void Sleep(Duration longest) const;

 private:
  Bell& bell_;
  uint32_t seen_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_LAYOUT_H_
