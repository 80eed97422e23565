#include "trainer_sdk/store/store_barrier.h"

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/message_text.h"
#include "base/monotonic_clock.h"

namespace muster {
namespace {

// One use of the barrier is called a generation, counted from 0. Generation g
// ends with arrival number (g+1)*size. The store keys, below NAME/:
//   arrivals       number of arrivals, over all generations
//   rank/R         1 + the generation in which rank R waits; absent: none
//   done/G         exists when generation G has ended
// A rank that retries after a timeout finds its key rank/R, so the rank is
// counted only once.
class Barrier {
 public:
  Barrier(Store& store, const std::string& name, int rank, int size)
      : store_(store), name_(name), rank_(rank), size_(size) {}

  absl::Status Pass(Instant deadline) {
    const Instant started = MonotonicNow();
    absl::StatusOr<int64_t> generation = Arrive();
    if (!generation.ok()) return generation.status();
    absl::Status done = store_.Wait({DoneKey(*generation)}, deadline);
    if (absl::IsDeadlineExceeded(done)) {
      done = Explain(*generation, MonotonicNow() - started);
    }
    if (!done.ok()) return done;
    return store_.Delete(RankKey(rank_)).status();
  }

 private:
  std::string RankKey(int rank) const {
    return absl::StrCat(name_, "/rank/", rank);
  }
  std::string DoneKey(int64_t generation) const {
    return absl::StrCat(name_, "/done/", generation);
  }

  // Records this rank's arrival at the barrier, and returns the generation (use
  // of the barrier) in which this rank waits.
  absl::StatusOr<int64_t> Arrive() {
    absl::StatusOr<bool> is_back = store_.Check({RankKey(rank_)});
    if (!is_back.ok()) return is_back.status();
    // The key rank/R exists, so an earlier call of this rank timed out. That
    // call was counted as an arrival, so this call must not be counted again.
    if (*is_back) {
      absl::StatusOr<int64_t> noted = store_.Add(RankKey(rank_), 0);
      if (!noted.ok()) return noted;
      return *noted - 1;
    }

    absl::StatusOr<int64_t> arrivals =
        store_.Add(absl::StrCat(name_, "/arrivals"), 1);
    if (!arrivals.ok()) return arrivals;
    const int64_t generation = (*arrivals - 1) / size_;
    absl::StatusOr<int64_t> noted = store_.Add(RankKey(rank_), generation + 1);
    if (!noted.ok()) return noted;
    if (*arrivals % size_ != 0) return generation;

    // This is the last arrival of the generation (use of the barrier). So all
    // ranks have left the previous generation, whose key can be deleted.
    if (generation > 0) {
      absl::Status swept = store_.Delete(DoneKey(generation - 1)).status();
      if (!swept.ok()) return swept;
    }
    absl::Status done = store_.Set(DoneKey(generation), "1");
    if (!done.ok()) return done;
    return generation;
  }

  // Appends to `absent` the ranks of [first, last) that have not arrived at the
  // barrier. Halves the range repeatedly, so that few requests are needed if
  // few ranks are absent.
  absl::Status FindAbsent(int first, int last, std::vector<int>& absent) {
    std::vector<std::string> keys;
    keys.reserve(last - first);
    for (int rank = first; rank < last; ++rank) keys.push_back(RankKey(rank));
    absl::StatusOr<bool> all = store_.Check(keys);
    if (!all.ok()) return all.status();
    if (*all) return absl::OkStatus();
    if (last - first == 1) {
      absent.push_back(first);
      return absl::OkStatus();
    }
    const int middle = first + (last - first) / 2;
    absl::Status lower = FindAbsent(first, middle, absent);
    return lower.ok() ? FindAbsent(middle, last, absent) : lower;
  }

  absl::Status Explain(int64_t generation, Duration waited) {
    std::vector<int> absent;
    absl::Status found = FindAbsent(0, size_, absent);
    if (!found.ok()) return found;
    // The generation (use of the barrier) may have ended while FindAbsent ran.
    // In that case no rank is missing: the ranks that look absent have arrived
    // and left.
    absl::StatusOr<bool> done = store_.Check({DoneKey(generation)});
    if (!done.ok()) return done.status();
    if (*done) return absl::OkStatus();
    return absl::DeadlineExceededError(absl::StrFormat(
        "barrier '%s': rank %d waited %.1f s in vain for %s of %d", name_,
        rank_, ToSeconds(waited), RankRanges(absent), size_));
  }

  Store& store_;
  const std::string& name_;
  const int rank_;
  const int size_;
};

}  // namespace

absl::Status StoreBarrier(Store& store, const std::string& name, int rank,
                          int size, Instant deadline) {
  if (size < 1 || rank < 0 || rank >= size) {
    return absl::InvalidArgumentError(absl::StrCat(
        "barrier '", name, "': there is no rank ", rank, " of ", size));
  }
  if (size == 1) return absl::OkStatus();
  return Barrier(store, name, rank, size).Pass(deadline);
}

}  // namespace muster
