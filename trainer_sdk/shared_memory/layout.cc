#include "trainer_sdk/shared_memory/layout.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#include <cstdint>

#include "base/time.h"

namespace muster {

Layout::Layout(int size, int64_t slot_bytes, int64_t channel_bytes)
    : size_(size),
      slot_bytes_(RoundUp(slot_bytes, kPageBytes)),
      channel_bytes_(RoundUp(channel_bytes, kPageBytes)) {
  rank_pages_ = RoundUp(sizeof(GroupPage), kPageBytes);
  counts_ = rank_pages_ + size * static_cast<int64_t>(sizeof(RankPage));
  channels_ = RoundUp(counts_ + 2 * int64_t{size} * 2 * size *
                                    static_cast<int64_t>(sizeof(int64_t)),
                      kCacheLine);
  staging_ = RoundUp(
      channels_ + int64_t{size} * size * static_cast<int64_t>(sizeof(Channel)),
      kPageBytes);
  rings_ = staging_ + size * staging_bytes();
}

int64_t Layout::rank_page(int rank) const {
  return rank_pages_ + rank * static_cast<int64_t>(sizeof(RankPage));
}

int64_t Layout::counts(int rank, int parity) const {
  return counts_ + (int64_t{parity} * size_ + rank) * 2 * size_ *
                       static_cast<int64_t>(sizeof(int64_t));
}

int64_t Layout::channel(int from, int to) const {
  return channels_ +
         (int64_t{from} * size_ + to) * static_cast<int64_t>(sizeof(Channel));
}

namespace {

// The address of the bell's futex word. The futex operations do not use
// FUTEX_PRIVATE, because ranks may be separate processes, each with its own
// mapping of the memory.
uint32_t* Word(Bell& bell) { return reinterpret_cast<uint32_t*>(&bell.rings); }

}  // namespace

void Ring(Bell& bell) {
  bell.rings.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, Word(bell), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Sleeper::Sleep(Duration longest) const {
  if (longest <= Duration::zero()) return;
  const timespec timeout = ToTimespec(longest);
  syscall(SYS_futex, Word(bell_), FUTEX_WAIT, seen_, &timeout, nullptr, 0);
}

}  // namespace muster
