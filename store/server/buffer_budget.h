#ifndef MUSTER_STORE_SERVER_BUFFER_BUDGET_H_
#define MUSTER_STORE_SERVER_BUFFER_BUDGET_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace muster::store {

// The buffers of one connection as counted by a BufferBudget; only the budget
// changes this struct.
struct BufferShare {
  size_t bytes = 0;  // the memory of the connection's buffers, in bytes
  // How many of these `bytes` hold replies that the client has not read yet.
  size_t outgoing = 0;
  // The number of the latest period in which this client has read data; 0: the
  // client has read none. BufferBudget::IsOverdue begins a new period when
  // requests start to wait, and whenever the clients have read enough data.
  uint64_t read_in = 0;
};

// The limit of the memory for the buffers of all connections. Decides when
// requests must wait, and which connections are closed. Pure: the caller passes
// changes and the time.
//
//   - If unread replies exceed half of the limit, requests wait, because their
//     replies would add to the unread ones. Clients that read make room again.
//   - If requests wait and almost nothing is read during `timeout`, the clients
//     that do not read are closed.
//   - If all buffers exceed the limit, a connection is closed at once. Since
//     waiting limits the unread replies, most of the memory then holds
//     incomplete requests.
class BufferBudget {
 public:
  BufferBudget(size_t max_bytes, Duration timeout);

  // Sets the memory of the connection's buffers and the part of that memory for
  // unread replies, both in bytes. Both must be set to 0 when the connection
  // ends.
  void Charge(BufferShare& share, size_t bytes, size_t outgoing);
  // Notes that the client has read `bytes`.
  void CountRead(BufferShare& share, size_t bytes);

  size_t bytes() const { return bytes_; }
  size_t outgoing() const { return outgoing_; }
  Duration timeout() const { return timeout_; }

  bool IsFull() const { return bytes_ > max_bytes_; }
  bool RequestsWait() const { return outgoing_ > max_bytes_ / 2; }
  // Whether requests have waited for `timeout` while almost nothing was read.
  // Must be called periodically while RequestsWait.
  bool IsOverdue(Instant now);

  // Whether the connection of `one` must be closed before that of `other`.
  //   - FillsBefore: for the case that all buffers together exceed the limit.
  //   - BlocksBefore: for the case that requests have waited too long
  //     (IsOverdue).
  bool FillsBefore(const BufferShare& one, const BufferShare& other) const;
  bool BlocksBefore(const BufferShare& one, const BufferShare& other) const;

 private:
  const size_t max_bytes_;
  const Duration timeout_;
  size_t bytes_ = 0;
  size_t outgoing_ = 0;
  // Start of the current period, in which requests wait because clients do not
  // read their replies; nullopt: no requests wait, or IsOverdue was not called
  // since the wait began. IsOverdue begins the first period when requests wait,
  // and a new period whenever clients have read enough in the current one.
  std::optional<Instant> wait_began_;
  // Number of the current period. IsOverdue begins a new period when requests
  // start to wait, and whenever the clients have read enough data.
  uint64_t wait_ = 1;
  size_t read_ = 0;  // bytes that clients have read in the current period
};

// Decides when a store returns freed memory to the system. The memory allocator
// of the process keeps freed memory. Returning it takes time in proportion to
// the amount. Pure.
class MemoryWatermark {
 public:
  // The least freed memory, in bytes, that is returned to the system. For less
  // memory, the system calls would cost too much time.
  static constexpr size_t kLeast = size_t{32} << 20;

  // Sets the memory in use to `bytes`. Returns whether freed memory must be
  // returned to the system now: the memory in use has fallen by at least half,
  // and by at least kLeast, from its maximum since Falls last returned true.
  bool Falls(size_t bytes);

 private:
  size_t peak_ = 0;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_BUFFER_BUDGET_H_
