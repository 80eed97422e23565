#include "store/server/buffer_budget.h"

#include <algorithm>

namespace muster::store {
namespace {

// While requests wait, all clients together must read at least 1/kLeastReadPart
// of the budget within `timeout`. Otherwise one client could make all others
// wait for ever, by reading one byte now and then.
constexpr size_t kLeastReadPart = 2048;

}  // namespace

BufferBudget::BufferBudget(size_t max_bytes, Duration timeout)
    : max_bytes_(max_bytes), timeout_(timeout) {}

void BufferBudget::Charge(BufferShare& share, size_t bytes, size_t outgoing) {
  bytes_ += bytes - share.bytes;
  outgoing_ += outgoing - share.outgoing;
  share.bytes = bytes;
  share.outgoing = outgoing;
  if (!RequestsWait()) wait_began_.reset();
}

void BufferBudget::CountRead(BufferShare& share, size_t bytes) {
  if (bytes == 0) return;
  share.read_in = wait_;
  read_ += bytes;
}

bool BufferBudget::IsOverdue(Instant now) {
  if (!RequestsWait()) return false;
  if (!wait_began_ || read_ > max_bytes_ / kLeastReadPart) {
    wait_began_ = now;
    ++wait_;
    read_ = 0;
  }
  return now - *wait_began_ >= timeout_;
}

bool BufferBudget::FillsBefore(const BufferShare& one,
                               const BufferShare& other) const {
  // Unread replies shrink as clients read, but an incomplete request may never
  // become complete. So if at least half of all bytes belong to incomplete
  // requests, close the connection with the largest request.
  if (outgoing_ <= bytes_ / 2) {
    return one.bytes - one.outgoing > other.bytes - other.outgoing;
  }
  return one.bytes > other.bytes;
}

bool BufferBudget::BlocksBefore(const BufferShare& one,
                                const BufferShare& other) const {
  const bool one_reads = one.read_in == wait_;
  const bool other_reads = other.read_in == wait_;
  // Connections are closed if their unread replies make all requests wait for
  // too long. A connection without unread replies is closed last, because
  // closing it lets no request continue.
  if (one.outgoing == 0 || other.outgoing == 0 || one_reads == other_reads) {
    return one.outgoing > other.outgoing;
  }
  return other_reads;
}

bool MemoryWatermark::Falls(size_t bytes) {
  peak_ = std::max(peak_, bytes);
  if (peak_ - bytes < kLeast || bytes > peak_ / 2) return false;
  peak_ = bytes;
  return true;
}

}  // namespace muster::store
