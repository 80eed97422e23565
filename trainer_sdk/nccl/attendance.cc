#include "trainer_sdk/nccl/attendance.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/message_text.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/process_group/formation.h"
#include "trainer_sdk/store/call_within.h"

namespace muster {
namespace {

constexpr int kMaxToLookFor = 64;

using Absent = std::optional<std::vector<int>>;

// The store key at which `rank` records its arrival in a meeting: a step in
// which all ranks wait for each other. If the meeting is repeated, its new
// number (turn) replaces the old number under this key.
std::string KeyOf(const Meeting& meeting, int rank) {
  return absl::StrCat("nccl_here/", meeting.name, "/", rank);
}

Absent LookFor(const Meeting& meeting, Store& store, int size) {
  std::vector<int> absent;
  for (int rank = 0; rank < size; ++rank) {
    const absl::StatusOr<std::string> came =
        store.Get(KeyOf(meeting, rank), MonotonicNow());
    if (!came.ok() && !absl::IsDeadlineExceeded(came.status())) return {};
    uint64_t turn = 0;
    if (!came.ok() || !absl::SimpleAtoi(*came, &turn) || turn < meeting.turn) {
      absent.push_back(rank);
    }
  }
  return absent;
}

Absent AbsentFrom(const Meeting& meeting, const GroupPlace& place,
                  Duration timeout) {
  if (place.size > kMaxToLookFor && place.rank != 0) return {};
  return CallWithin<Absent>(timeout,
                            [meeting, store = place.store, size = place.size] {
                              return LookFor(meeting, *store, size);
                            })
      .value_or(std::nullopt);
}

}  // namespace

absl::Status RecordArrival(const Meeting& meeting, const GroupPlace& place) {
  const std::string key = KeyOf(meeting, place.rank);
  const std::string turn = absl::StrCat(meeting.turn);
  if (place.formation == nullptr) return place.store->Set(key, turn);
  return FormingStore(place.store, place.formation).Set(key, turn);
}

absl::Status WithAbsent(const absl::Status& late, const Meeting& meeting,
                        const GroupPlace& place, Duration timeout) {
  // Do not add the absent ranks to the message if the creation of the group has
  // already failed: then another rank's deadline has passed earlier, and that
  // rank's error names the absent ranks.
  if (!absl::IsDeadlineExceeded(late) || !FormationStatus(place).ok()) {
    return late;
  }
  const Absent absent = AbsentFrom(meeting, place, timeout);
  if (!absent.has_value()) return late;
  return absl::DeadlineExceededError(absl::StrCat(
      late.message(), "; ",
      absent->empty()
          ? "each had set out to: one has died since, or look at the network "
            "that NCCL chose (NCCL_SOCKET_IFNAME, NCCL_DEBUG=INFO)"
          : absl::StrCat(RankRanges(*absent), " of group \"", place.name,
                         "\" never set out to")));
}

}  // namespace muster
