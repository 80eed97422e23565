#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_HEAP_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_HEAP_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/transport.h"
#include "trainer_sdk/shared_memory/layout.h"
#include "trainer_sdk/shared_memory/local_socket.h"
#include "trainer_sdk/shared_memory/memory_file.h"
#include "trainer_sdk/shared_memory/peers.h"

namespace muster {

// One collective allocation of the symmetric heap: a memory file with a part of
// equal length for each rank, mapped in this process. The file is unmapped once
// every rank has freed its part.
class HeapSegment {
 public:
  HeapSegment(Mapping mapping, int rank, int size, int64_t bytes);

  // The length in bytes of one rank's part in the file: `bytes` rounded up to
  // pages.
  static int64_t Stride(int64_t bytes) {
    return RoundUp(std::max<int64_t>(bytes, 1), kPageBytes);
  }
  static int64_t TotalBytes(int size, int64_t bytes) {
    return kPageBytes + size * Stride(bytes);
  }
  static int64_t Offset(int rank, int64_t bytes) {
    return kPageBytes + rank * Stride(bytes);
  }

  char* part(int rank) const { return mapping_.data() + Offset(rank, bytes_); }
  char* own_part() const { return part(rank_); }
  int64_t bytes() const { return bytes_; }

  // Marks this rank's part as no longer needed. Any thread.
  void Free();
  bool freed_here() const { return freed_here_; }
  bool freed_everywhere() const;

 private:
  // The number of ranks that have freed their part of this segment. The counter
  // is in the first page of the segment's file.
  std::atomic<uint32_t>& Frees() const;

  const Mapping mapping_;
  const int rank_;
  const int size_;
  const int64_t bytes_;
  std::atomic<bool> freed_here_ = false;
};

// The symmetric heap: shared memory in which each rank has a part of equal
// length. Not thread-safe, except that any thread may free memory.
class Heap {
 public:
  explicit Heap(Peers* peers) : peers_(peers) {}

  // Creates the segment of a collective allocation. Rank 0 creates the memory
  // file, and the other ranks receive its descriptor. Each rank then maps the
  // file and reserves its part.
  //
  // The ranks must then compare their results, and call Add only if Create
  // succeeded on all ranks. A segment's number is the number of calls of Create
  // so far, including failed calls. So all ranks give a segment the same
  // number.
  absl::StatusOr<std::shared_ptr<HeapSegment>> Create(int64_t bytes,
                                                      const Waiting& waiting);
  std::unique_ptr<TransportMemory> Add(std::shared_ptr<HeapSegment> segment);

  // Returns the position in the symmetric heap of this rank's buffer, the
  // `bytes` bytes at `data`; its segment is 0 if the buffer is not in the heap.
  HeapPlace Find(const void* data, int64_t bytes) const;
  // The address, in this process, of the buffer that `rank` has at `place`.
  char* At(int rank, const HeapPlace& place) const;

  // Unmaps the segments that all ranks have freed.
  void Purge();

 private:
  absl::StatusOr<OwnedFd> ShareFile(int64_t total, const Waiting& waiting);
  // Returns the conditions that end a wait for a message from `rank`
  // (ReceiveLocal) early: the deadline passes, the group breaks, or `rank`
  // dies.
  LocalWaitLimits WaitLimitsOf(int rank, const Waiting& waiting) const;

  struct Entry {
    uint64_t number = 0;
    std::shared_ptr<HeapSegment> segment;
  };

  Peers* const peers_;
  uint64_t last_number_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_HEAP_H_
