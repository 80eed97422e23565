#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_LAYOUT_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_LAYOUT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trainer_sdk/process_group/signature.h"

// What lies where in the memory that the ranks of a group share. Everything
// starts as zeros, the state of a fresh memory file, and says who writes it;
// what one rank writes and others read is published by an atomic.
namespace muster {

inline constexpr int64_t kCacheLine = 64;
inline constexpr int kStagingSlots = 3;  // see Collectives
inline constexpr int kMaxCores = 1024;

// The 64-bit and 32-bit atomics must work between processes.
static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(std::atomic<uint32_t>::is_always_lock_free);

// What sleepers sleep on. Rung by whoever may have made their wish come true.
struct alignas(kCacheLine) Bell {
  std::atomic<uint32_t> rings;  // the futex
  std::atomic<uint32_t> sleepers;
};

// Where in the symmetric heap a buffer lies.
struct HeapPlace {
  uint64_t segment = 0;  // counted from 1; 0: nowhere
  int64_t offset = 0;    // bytes into its rank's part
};

// How a rank offers its part of a collective.
enum class Offer : uint32_t {
  kNone,    // it sends nothing
  kStaged,  // the first round is in its staging slot already
  kDirect,  // its buffers are in the heap: peers may use them
};

// What one rank asks for; complete once `stamp` is this collective's number
// (counted from 1 by the transport).
struct alignas(kCacheLine) Call {
  std::atomic<uint64_t> stamp;
  OperationSignature signature;
  Offer offer;
  int64_t allocation;  // 0, or 1 + the bytes of a call of Allocate
  alignas(kCacheLine) HeapPlace input;
  HeapPlace output;
};

// Written by its rank only, but for the bell.
struct alignas(2 * kCacheLine) RankPage {
  // The call of collective k is in [k % 2]. Two are enough: a rank that posts
  // k + 2 has seen everybody's k + 1, so that everybody is done with k.
  Call calls[2];
  // Counts steps inside collectives, all alike on every rank.
  alignas(kCacheLine) std::atomic<uint64_t> phase;
  std::atomic<uint32_t> left;  // it has destroyed its transport
  Bell bell;                   // for messages to and from it
  // Written before the group is formed.
  alignas(kCacheLine) int64_t pid;
  char host[64];
  uint64_t cores[kMaxCores / 64];  // those that it may run on
  int32_t allocation_failed;       // its part of the last Allocate
};

// Of the whole group.
struct GroupPage {
  // 0, or 1 + the rank that broke the group, and kCauseComplete once `code`
  // and `text` are written.
  alignas(kCacheLine) std::atomic<uint32_t> broken;
  int32_t code;
  char text[4096];
  Bell bell;  // for everything but messages
};
inline constexpr uint32_t kCauseComplete = 0x80000000u;

// Messages from one rank to another: a ring of bytes, told by positions that
// only grow.
struct Channel {
  alignas(kCacheLine) std::atomic<uint64_t> written;  // by the sender
  alignas(kCacheLine) std::atomic<uint64_t> read;     // by the receiver
};

// Starts every message in a ring.
struct alignas(kCacheLine) MessageHeader {
  uint64_t sequence;  // of the sender's context
  int64_t count;
  int32_t tag;
  DType dtype;
  HeapPlace place;  // where the payload is, if it does not follow
};

// Where each part starts, in bytes. Pure.
class Layout {
 public:
  // `slot_bytes` of each of a rank's staging slots, `channel_bytes` of each
  // ring; both are rounded up to whole pages.
  Layout(int size, int64_t slot_bytes, int64_t channel_bytes);

  int size() const { return size_; }
  int64_t slot_bytes() const { return slot_bytes_; }
  int64_t channel_bytes() const { return channel_bytes_; }

  // The pages, the counts and the channels' positions, needed by everybody.
  int64_t common_bytes() const { return staging_; }
  // All slots of one rank.
  int64_t staging(int rank) const { return staging_ + rank * staging_bytes(); }
  int64_t staging_bytes() const { return kStagingSlots * slot_bytes_; }
  int64_t ring(int from, int to) const {
    return rings_ + (int64_t{from} * size_ + to) * channel_bytes_;
  }
  int64_t total_bytes() const {
    return rings_ + int64_t{size_} * size_ * channel_bytes_;
  }

  int64_t rank_page(int rank) const;
  // counts[size], then receive_counts[size], of the call at [parity].
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

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_LAYOUT_H_
