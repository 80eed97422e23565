#ifndef MUSTER_STORE_SERVER_BUFFER_BUDGET_H_
#define MUSTER_STORE_SERVER_BUFFER_BUDGET_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace muster {

// One connection's part of a BufferBudget, which alone writes it.
struct BufferShare {
  // The memory that it holds, and what of it is sent but not read.
  size_t bytes = 0;
  size_t outgoing = 0;
  // In which of the budget's waits its client read something last.
  uint64_t read_in = 0;
};

// What the buffers of all connections may take together, who has to wait for
// that, and who is ended at last. Pure: it is told what changes, and the time.
//
//  - Above half of the budget in bytes that clients have not read, requests
//    wait, as answers would add to them. Clients that read make room again, so
//    none of them is ended for what it was sent.
//  - Where next to nothing is read for all of `patience` while requests wait,
//    whoever does not read has to go.
//  - Above all of the budget somebody has to go at once. What is sent is
//    bounded by the wait; what is left are halves of requests.
class BufferBudget {
 public:
  BufferBudget(size_t max_bytes, Duration patience);

  // The connection holds so much from now on; nothing when it ends.
  void Charge(BufferShare& share, size_t bytes, size_t outgoing);
  // Its client has read so many bytes.
  void CountRead(BufferShare& share, size_t bytes);

  size_t bytes() const { return bytes_; }
  size_t outgoing() const { return outgoing_; }
  Duration patience() const { return patience_; }

  bool IsFull() const { return bytes_ > max_bytes_; }
  bool RequestsWait() const { return outgoing_ > max_bytes_ / 2; }
  // Whether they have waited too long, and nobody reads. To be asked again and
  // again while RequestsWait.
  bool IsOverdue(Instant now);

  // Whether `one` is to be ended before `other`, where the budget is full; and
  // where it is overdue.
  bool FillsBefore(const BufferShare& one, const BufferShare& other) const;
  bool BlocksBefore(const BufferShare& one, const BufferShare& other) const;

 private:
  const size_t max_bytes_;
  const Duration patience_;
  size_t bytes_ = 0;
  size_t outgoing_ = 0;
  // When the current wait began, or something was read in it last; its number,
  // and what was read since.
  std::optional<Instant> wait_began_;
  uint64_t wait_ = 1;
  size_t read_ = 0;
};

}  // namespace muster

#endif  // MUSTER_STORE_SERVER_BUFFER_BUDGET_H_
