#include "trainer_sdk/process_group/account_exchange.h"

#include <chrono>

#include "base/monotonic_clock.h"
#include "trainer_sdk/process_group/account.h"
#include "trainer_sdk/process_group/failure_record.h"
#include "trainer_sdk/store/call_within.h"

namespace muster {
namespace {

// Time to write this account and read those of peers, in addition to the wait.
constexpr Duration kStorePatience = std::chrono::seconds(1);

}  // namespace

std::string ExchangeAccounts(const GroupPlace& place,
                             const OperationSignature& last,
                             const absl::Status& failure, Duration wait) {
  // A store behind a broken network must not block the caller.
  const auto accounts = CallWithin<std::string>(
      wait + kStorePatience,
      [place, last, wait, told = std::string(failure.message()),
       record = EncodeFailure(place.rank, failure)]() -> std::string {
        // Tells ranks that are blocked in a Split.
        place.store->CompareSet(kFailureKey, "", record).IgnoreError();
        const bool published = PublishAccount(place, last).ok();
        if (!published || wait == Duration::zero()) return "";
        return CompareAccounts(ReadAccounts(place, MonotonicNow() + wait),
                               told);
      });
  return accounts.value_or("");
}

}  // namespace muster
