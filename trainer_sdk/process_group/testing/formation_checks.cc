// Checks of the conformance suite in which a group fails to form. The checks
// examine the errors that the ranks get.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/time.h"
#include "trainer_sdk/process_group/failure_record.h"
#include "trainer_sdk/process_group/formation.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/conformance_checks.h"
#include "trainer_sdk/process_group/testing/rank_threads.h"
#include "trainer_sdk/store/in_process_store.h"
#include "trainer_sdk/store/store.h"

namespace muster {
namespace {

// Forwards calls to another store, except that one call fails with Internal and
// the message "planted". Calls with the keys of a FailureRecord are not
// counted.
class FailingStore final : public Store {
 public:
  // `failing`: index of the call that fails, from 0.
  FailingStore(std::shared_ptr<Store> store, int failing);

  // Whether the call that must fail has been made.
  bool failed() const { return calls_ > failing_; }

  absl::Status Set(const std::string& key, const std::string& value) override;
  absl::StatusOr<std::string> Get(const std::string& key,
                                  Instant deadline) override;
  absl::Status Wait(const std::vector<std::string>& keys,
                    Instant deadline) override;
  absl::StatusOr<int64_t> Add(const std::string& key, int64_t amount) override;
  absl::StatusOr<std::string> CompareSet(const std::string& key,
                                         const std::string& expected,
                                         const std::string& desired) override;
  absl::StatusOr<bool> Delete(const std::string& key) override;
  absl::StatusOr<bool> Check(const std::vector<std::string>& keys) override;

 private:
  // Counts a call for `key`. Returns the planted error if this call must fail.
  absl::Status Next(const std::string& key);

  const std::shared_ptr<Store> store_;
  const int failing_;
  std::atomic<int> calls_{0};
};

FailingStore::FailingStore(std::shared_ptr<Store> store, int failing)
    : store_(std::move(store)), failing_(failing) {}

absl::Status FailingStore::Next(const std::string& key) {
  const bool recorded =
      key == kFailureKey || absl::EndsWith(key, absl::StrCat("/", kFailureKey));
  if (recorded || calls_++ != failing_) return absl::OkStatus();
  return absl::InternalError("planted");
}

absl::Status FailingStore::Set(const std::string& key,
                               const std::string& value) {
  const absl::Status next = Next(key);
  return next.ok() ? store_->Set(key, value) : next;
}

absl::StatusOr<std::string> FailingStore::Get(const std::string& key,
                                              Instant deadline) {
  const absl::Status next = Next(key);
  if (!next.ok()) return next;
  return store_->Get(key, deadline);
}

absl::Status FailingStore::Wait(const std::vector<std::string>& keys,
                                Instant deadline) {
  const absl::Status next = Next(keys.front());
  return next.ok() ? store_->Wait(keys, deadline) : next;
}

absl::StatusOr<int64_t> FailingStore::Add(const std::string& key,
                                          int64_t amount) {
  const absl::Status next = Next(key);
  if (!next.ok()) return next;
  return store_->Add(key, amount);
}

absl::StatusOr<std::string> FailingStore::CompareSet(
    const std::string& key, const std::string& expected,
    const std::string& desired) {
  const absl::Status next = Next(key);
  if (!next.ok()) return next;
  return store_->CompareSet(key, expected, desired);
}

absl::StatusOr<bool> FailingStore::Delete(const std::string& key) {
  const absl::Status next = Next(key);
  if (!next.ok()) return next;
  return store_->Delete(key);
}

absl::StatusOr<bool> FailingStore::Check(const std::vector<std::string>& keys) {
  const absl::Status next = Next(keys.front());
  if (!next.ok()) return next;
  return store_->Check(keys);
}

// A timeout that is much longer than any step of a check takes. So a rank whose
// call reaches this timeout was not notified of the failure.
constexpr Duration kFar = std::chrono::minutes(2);
// The size of the largest group that is checked. Larger groups form, and fail,
// in the same way.
constexpr int kMaxRanks = 4;

GroupPlace PlaceOf(std::shared_ptr<Store> store, int rank, int size) {
  GroupPlace place;
  place.rank = rank;
  place.size = size;
  place.store = std::move(store);
  place.name = "formation";
  return place;
}

// Forms a group and, if that succeeds, runs a barrier in it.
absl::Status FormAndMeet(const ConformanceSubject& subject, GroupPlace place) {
  auto transport =
      FormTransport(subject.factory, std::move(place), MonotonicNow() + kFar);
  if (!transport.ok()) return transport.status();
  OperationContext context;
  context.sequence = 1;
  context.deadline = MonotonicNow() + kFar;
  return (*transport)->Execute(Barrier(), context);
}

absl::Status ExpectTold(const std::string& what, int victim,
                        const std::string& reason,
                        const std::vector<absl::Status>& statuses) {
  for (size_t rank = 0; rank < statuses.size(); rank++) {
    const std::string told(statuses[rank].message());
    const bool names = static_cast<int>(rank) == victim ||
                       absl::StrContains(told, absl::StrCat("rank ", victim));
    if (statuses[rank].ok() || !names || !absl::StrContains(told, reason)) {
      return absl::InternalError(absl::StrCat(what, ": rank ", rank, " got ",
                                              statuses[rank].ToString()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckFailedFormation(const ConformanceSubject& subject, int size) {
  if (size == 1 || size > kMaxRanks) return absl::OkStatus();
  // In each group, one store call of rank `victim` fails, namely the call with
  // the index `call`.
  for (int victim : {0, size - 1}) {
    for (int call = 0;; call++) {
      const auto store = std::make_shared<InProcessStore>();
      const auto failing = std::make_shared<FailingStore>(store, call);
      const std::vector<absl::Status> statuses =
          RunRanks(size, [&](int rank) -> absl::Status {
            return FormAndMeet(subject, rank == victim
                                            ? PlaceOf(failing, rank, size)
                                            : PlaceOf(store, rank, size));
          });
      if (!failing->failed()) {
        const absl::Status whole = FirstFailure(statuses);
        if (!whole.ok()) return whole;
        break;
      }
      const absl::Status told = ExpectTold(
          absl::StrCat("rank ", victim, " of ", size,
                       " whose store's call number ", call, " failed"),
          victim, "planted", statuses);
      if (!told.ok()) return told;
    }
  }
  return absl::OkStatus();
}

absl::Status CheckInterruptedFormation(const ConformanceSubject& subject,
                                       int size) {
  if (size == 1 || size > kMaxRanks) return absl::OkStatus();
  // The last rank never joins the group, and the other ranks wait for it. One
  // of them, `victim`, gives up. All others must then fail with the reason of
  // `victim`. Each waiting rank is `victim` once.
  for (int victim = 0; victim < size - 1; victim++) {
    const auto store = std::make_shared<InProcessStore>();
    const std::vector<absl::Status> statuses =
        RunRanks(size - 1, [&](int rank) -> absl::Status {
          GroupPlace place = PlaceOf(store, rank, size);
          auto formation = Formation::Begin(store, rank, MonotonicNow() + kFar);
          if (!formation.ok()) return formation.status();
          place.formation = *formation;
          absl::Status result;
          std::thread abort;
          if (rank == victim) {
            abort = std::thread([&formation] {
              (*formation)->Interrupt(absl::AbortedError("enough"));
            });
          }
          result = FormAndMeet(subject, std::move(place));
          if (abort.joinable()) abort.join();
          return result;
        });
    const absl::Status told =
        ExpectTold(absl::StrCat("rank ", victim, " that gives up"), victim,
                   "enough", statuses);
    if (!told.ok()) return told;
  }
  return absl::OkStatus();
}

}  // namespace muster
