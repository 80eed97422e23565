#include "trainer_sdk/process_group/failure_record.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/store/call_within.h"

namespace muster {
namespace {

constexpr size_t kMaxMessageBytes = 4096;

}  // namespace

std::string EncodeFailure(int rank, const absl::Status& failure) {
  return absl::StrCat(static_cast<int>(failure.code()), " ", rank, " ",
                      failure.message().substr(0, kMaxMessageBytes));
}

absl::Status DecodeFailure(const std::string& text, int own_rank) {
  const std::vector<std::string> parts =
      absl::StrSplit(text, absl::MaxSplits(' ', 2));
  int code = 0, rank = 0;
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[0], &code) || code <= 0 ||
      code > static_cast<int>(absl::StatusCode::kUnauthenticated) ||
      !absl::SimpleAtoi(parts[1], &rank)) {
    return absl::InternalError(
        absl::StrCat("the group is broken, and the store does not say why: '",
                     text.substr(0, 80), "'"));
  }
  return absl::Status(static_cast<absl::StatusCode>(code),
                      rank == own_rank
                          ? parts[2]
                          : absl::StrCat("rank ", rank, " found: ", parts[2]));
}

FailureRecord::FailureRecord(std::shared_ptr<Store> store, int rank,
                             Duration timeout)
    : store_(std::move(store)), rank_(rank), timeout_(timeout) {}

absl::Status FailureRecord::Settle(const absl::Status& mine) const {
  const auto recorded = CallWithin<absl::StatusOr<std::string>>(
      timeout_, [store = store_, failure = EncodeFailure(rank_, mine)] {
        return store->CompareSet(kFailureKey, "", failure);
      });
  if (!recorded || !recorded->ok()) return mine;
  return DecodeFailure(**recorded, rank_);
}

absl::Status FailureRecord::Cause() const {
  const auto recorded =
      CallWithin<absl::StatusOr<std::string>>(timeout_, [store = store_] {
        // Get with the current time as its deadline does not wait: it returns
        // the current value, or an error if the key is not set.
        return store->Get(kFailureKey, MonotonicNow());
      });
  if (!recorded || !recorded->ok()) return absl::OkStatus();
  return DecodeFailure(**recorded, rank_);
}

void FailureRecord::AwaitCause(Duration grace) const {
  (void)CallWithin<absl::Status>(timeout_, [store = store_, grace] {
    return store->Wait({kFailureKey}, MonotonicNow() + grace);
  });
}

std::vector<LateRank> FailureRecord::CompareLate(const std::string& operation,
                                                 int size,
                                                 Duration grace) const {
  const auto compare = [store = store_, rank = rank_, operation, size, grace] {
    std::vector<std::string> keys;
    for (int other = 0; other < size; ++other) {
      keys.push_back(absl::StrCat("late/", operation, "/", other));
    }
    std::vector<LateRank> late;
    if (!store->Set(keys[rank], "").ok()) return late;
    // Ignore the result of Wait, because the key of each rank is checked below.
    store->Wait(keys, MonotonicNow() + grace).IgnoreError();
    for (const std::string& key : keys) {
      const absl::StatusOr<bool> there = store->Check({key});
      if (!there.ok()) return std::vector<LateRank>();
      late.push_back(*there ? LateRank::kLateToo : LateRank::kSilent);
    }
    return late;
  };
  return CallWithin<std::vector<LateRank>>(timeout_, compare)
      .value_or(std::vector<LateRank>());
}

}  // namespace muster
