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
  // Memory of the connection's buffers. The next field: the part of it that
  // holds replies that the client has not read. Both in bytes.
  size_t bytes = 0;
  size_t outgoing = 0;
  // The number (BufferBudget::wait_) of the newest period in which requests
  // waited and this client read data; 0: none.
  uint64_t read_in = 0;
};

// The limit of the memory for the buffers of all connections. Decides when
// requests must wait, and which connections are closed. Pure: the caller passes
// changes and the time.
//
// - If unread replies exceed half of the limit, requests wait, because their
// replies would add to the unread ones. Clients that read make room again, so
// no client that reads is closed.
// - If requests wait and almost nothing is read during `timeout`, the clients
// that do not read are closed.
// - If all buffers exceed the limit, a connection is closed at once. Most of
// the memory then holds incomplete requests, because the waiting limits the
// replies.
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

  // Whether `one` must be closed before `other`. FillsBefore: the order if the
  // budget is full. BlocksBefore: the order if IsOverdue.
  bool FillsBefore(const BufferShare& one, const BufferShare& other) const;
  bool BlocksBefore(const BufferShare& one, const BufferShare& other) const;

 private:
  const size_t max_bytes_;
  const Duration timeout_;
  size_t bytes_ = 0;
  size_t outgoing_ = 0;
  // Three values of the current wait, a period in which RequestsWait is true.
  // First: its start, or a later time at which enough had been read. Second:
  // its number, from 1. Third: the bytes read since the first.
  std::optional<Instant> wait_began_;
  uint64_t wait_ = 1;
  size_t read_ = 0;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_BUFFER_BUDGET_H_
