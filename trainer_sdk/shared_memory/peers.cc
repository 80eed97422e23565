#include "trainer_sdk/shared_memory/peers.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/shared_memory/gathering.h"
#include "trainer_sdk/shared_memory/layout.h"

namespace muster {

void SetCause(GroupPage& group, int rank, const absl::Status& cause) {
  uint32_t none = 0;
  const uint32_t mine = 1 + static_cast<uint32_t>(rank);
  if (!group.broken.compare_exchange_strong(none, mine)) return;
  const std::string text(cause.message());
  const size_t length = std::min(text.size(), sizeof(group.text) - 1);
  std::memcpy(group.text, text.data(), length);
  group.text[length] = '\0';
  group.code = static_cast<int32_t>(cause.code());
  group.broken.store(mine | kCauseComplete, std::memory_order_seq_cst);
}

absl::Status CauseOf(const GroupPage& group) {
  // SetCause marks the group as broken before it writes the cause, which takes
  // microseconds. If the process that runs SetCause is killed in between, the
  // cause is never complete. So the loop below, which waits for the complete
  // cause, has a time limit.
  const Instant give_up = MonotonicNow() + std::chrono::seconds(1);
  uint32_t state;
  while (((state = group.broken.load(std::memory_order_acquire)) &
          kCauseComplete) == 0) {
    if (MonotonicNow() > give_up) {
      return absl::UnavailableError(absl::StrCat(
          "rank ", state - 1, " broke the group and died before it said why"));
    }
    sched_yield();
  }
  return absl::Status(
      static_cast<absl::StatusCode>(group.code),
      std::string(group.text, strnlen(group.text, sizeof(group.text))));
}

CoreSet AvailableCores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CoreSet cores;
  // sched_getaffinity fails on a machine with more cores than the mask can
  // hold. Then no core is known, and ranks do not spin.
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0) return cores;
  for (int core = 0; core < kMaxCores && core < CPU_SETSIZE; ++core) {
    cores[core] = CPU_ISSET(core, &mask);
  }
  return cores;
}

bool MaySpin(const std::vector<CoreSet>& cores_of_ranks, int rank) {
  const CoreSet& mine = cores_of_ranks[rank];
  size_t bound_to_mine = 0;
  for (const CoreSet& cores : cores_of_ranks) {
    if ((cores & ~mine).none()) ++bound_to_mine;
  }
  return bound_to_mine <= mine.count();
}

namespace {

// The maximum number of iterations for which a rank spins in one wait, about 50
// us in total: longer than ranks usually wait for each other, and short enough
// not to delay other processes.
constexpr int kSpins = 2000;
constexpr int kFewestSpins = 60;
// How many times a waiting rank yields its core before it sleeps. kYields is
// for a rank with a core of its own. kYieldsWhenCrowded is for a rank that
// shares its core with other ranks; the limit is higher because these ranks
// probably need the core.
constexpr int kYields = 50;
constexpr int kYieldsWhenCrowded = 200;
// The interval at which a sleeping rank checks whether the ranks that it waits
// for still run.
constexpr Duration kLook = std::chrono::milliseconds(20);

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

absl::StatusOr<std::unique_ptr<Peers>> Peers::Join(const GroupPlace& place,
                                                   Gathered gathered) {
  const Layout layout(place.size, gathered.dimensions.slot_bytes,
                      gathered.dimensions.channel_bytes);
  absl::StatusOr<Mapping> mapping =
      Mapping::Of(gathered.memory.get(), layout.total_bytes());
  if (!mapping.ok()) return mapping.status();
  std::unique_ptr<Peers> peers(
      new Peers(place, std::move(gathered), *std::move(mapping)));
  absl::Status reserved = ReservePages(
      peers->memory_fd(), layout.staging(place.rank), layout.staging_bytes());
  if (!reserved.ok()) return peers->Break(reserved);
  RankPage& own = peers->own_page();
  own.pid = getpid();
  gethostname(own.host, sizeof(own.host) - 1);
  const CoreSet cores = AvailableCores();
  for (int core = 0; core < kMaxCores; ++core) {
    if (cores[core]) own.cores[core / 64] |= uint64_t{1} << core % 64;
  }
  return peers;
}

Peers::Peers(const GroupPlace& place, Gathered gathered, Mapping mapping)
    : rank_(place.rank),
      layout_(place.size, gathered.dimensions.slot_bytes,
              gathered.dimensions.channel_bytes),
      memory_(std::move(gathered.memory)),
      mapping_(std::move(mapping)),
      own_life_(std::move(gathered.own_life)),
      lives_(std::move(gathered.lives)),
      connections_(std::move(gathered.connections)) {}

Peers::~Peers() {
  own_page().left.store(1, std::memory_order_seq_cst);
  RingAll();
}

void Peers::Meet() {
  std::vector<CoreSet> cores(size());
  for (int rank = 0; rank < size(); ++rank) {
    for (int core = 0; core < kMaxCores; ++core) {
      cores[rank][core] = (page(rank).cores[core / 64] >> core % 64 & 1) != 0;
    }
  }
  crowded_ = false;
  for (int rank = 0; rank < size(); ++rank) {
    crowded_ = crowded_ || !MaySpin(cores, rank);
  }
  const bool alone = MaySpin(cores, rank_);
  max_spins_ = alone ? kSpins : 0;
  spins_ = max_spins_;
  yields_ = alone ? kYields : kYieldsWhenCrowded;
}

std::string Peers::Who(int rank) const {
  const RankPage& one = page(rank);
  if (one.pid == 0) return absl::StrCat("rank ", rank);
  return absl::StrCat(
      "rank ", rank, " (pid ", one.pid, " on ",
      std::string(one.host, strnlen(one.host, sizeof(one.host))), ")");
}

// Spins for at most spins_ iterations, then yields; returns whether the
// condition became true. If the condition becomes true after one yield, the
// kernel has probably put two ranks on one core, where spinning is useless. So
// the next wait spins for fewer iterations. Once spinning succeeds, the next
// wait may spin for the full limit again.
bool Peers::Spin(const WaitCondition& condition) {
  for (int i = 0; i < spins_; ++i) {
    if (condition.IsTrue()) {
      spins_ = max_spins_;
      return true;
    }
    if (broken()) return false;
    Pause();
  }
  for (int i = 0; i < yields_; ++i) {
    if (condition.IsTrue()) {
      if (i == 1)
        spins_ = std::min(max_spins_, std::max(spins_ / 2, kFewestSpins));
      return true;
    }
    if (broken()) return false;
    sched_yield();
  }
  return condition.IsTrue();
}

absl::Status Peers::Await(const WaitCondition& condition, Bell& bell,
                          const Waiting& waiting) {
  if (Spin(condition)) return absl::OkStatus();
  Instant next_look = MonotonicNow();
  while (true) {
    const Sleeper sleeper(bell);
    if (condition.IsTrue()) return absl::OkStatus();
    if (broken()) return cause();
    const std::vector<int> absent = condition.Absent();
    std::string lost = DescribeLeft(absent);
    const Instant now = MonotonicNow();
    if (lost.empty() && now >= next_look) {
      lost = DescribeGone(absent);
      next_look = now + kLook;
    }
    // Check the condition again after the check for lost ranks. A rank may have
    // done its part first, and left or died afterwards. Then the condition is
    // true, and the rank's end must not break the group.
    if (condition.IsTrue()) return absl::OkStatus();
    if (!lost.empty()) return BreakForLoss(lost, waiting);
    if (now >= waiting.deadline) return BreakForDeadline(condition, waiting);
    sleeper.Sleep(std::min(waiting.deadline - now, kLook));
  }
}

absl::Status Peers::Look(const std::vector<int>& awaited,
                         const Waiting& waiting) {
  if (broken()) return cause();
  std::string lost = DescribeLeft(awaited);
  if (lost.empty()) lost = DescribeGone(awaited);
  return lost.empty() ? absl::OkStatus() : BreakForLoss(lost, waiting);
}

std::string Peers::DescribeLeft(const std::vector<int>& ranks) const {
  for (const int rank : ranks) {
    if (page(rank).left.load(std::memory_order_seq_cst) != 0) {
      return absl::StrCat(Who(rank), " has left the group");
    }
  }
  return "";
}

std::string Peers::DescribeGone(const std::vector<int>& ranks) const {
  std::vector<int> told;
  told.reserve(ranks.size());
  for (const int rank : ranks) told.push_back(lives_[rank].get());
  std::string text;
  for (const int index : Gone(told)) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", Who(ranks[index]),
                    " died");
  }
  return text;
}

absl::Status Peers::BreakForLoss(const std::string& lost,
                                 const Waiting& waiting) {
  return Break(absl::UnavailableError(absl::StrCat(
      Describe(waiting.signature), ": ", lost, "; noticed by ", Who(rank_))));
}

absl::Status Peers::BreakForDeadline(const WaitCondition& condition,
                                     const Waiting& waiting) {
  std::string text =
      absl::StrCat(Describe(waiting.signature), ": at its deadline ",
                   Who(rank_), " still waited for ");
  const char* separator = "";
  for (const int rank : condition.Absent()) {
    absl::StrAppend(&text, separator, Who(rank), ", which ",
                    condition.DescribeAbsent(rank));
    separator = "; ";
  }
  return Break(absl::DeadlineExceededError(text));
}

absl::Status Peers::Break(const absl::Status& cause) {
  SetCause(group(), rank_, cause);
  RingAll();
  return CauseOf(group());
}

void Peers::Abort(const std::string& reason) {
  Break(
      absl::AbortedError(absl::StrCat("aborted by ", Who(rank_), ": ", reason)))
      .IgnoreError();
}

void Peers::RingAll() {
  Ring(group().bell);
  for (int rank = 0; rank < size(); ++rank) Ring(page(rank).bell);
}

}  // namespace muster
