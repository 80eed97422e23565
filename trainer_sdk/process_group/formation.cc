#include "trainer_sdk/process_group/formation.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/store/store_errors.h"

namespace muster {
namespace {

// While a group forms, a thread waits for a failure to appear in the store. A
// wait cannot be cancelled, so the thread makes many short waits. kFirstWatch
// is the length of the first wait. Later waits are longer, up to kLongestWatch.
constexpr Duration kFirstWatch = std::chrono::milliseconds(50);
constexpr Duration kLongestWatch = std::chrono::seconds(1);
// The longest time to wait for an answer of the store, which a broken network
// may make unreachable.
constexpr Duration kStoreTimeout = std::chrono::seconds(1);

absl::Status NoThread(const std::system_error& error) {
  return absl::ResourceExhaustedError(
      absl::StrCat("no thread to make a group with: ", error.what()));
}

}  // namespace

Formation::Formation(std::shared_ptr<Store> store, int rank, Instant deadline)
    : store_(std::move(store)),
      rank_(rank),
      deadline_(deadline),
      record_(store_, rank, kStoreTimeout),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

absl::StatusOr<std::shared_ptr<Formation>> Formation::Begin(
    std::shared_ptr<Store> store, int rank, Instant deadline) {
  std::shared_ptr<Formation> formation(
      new Formation(std::move(store), rank, deadline));
  try {
    std::thread([formation] { formation->Watch(); }).detach();
  } catch (const std::system_error& error) {
    const absl::Status failure = NoThread(error);
    // Formation::Fail would start a thread to write the cause to the store, but
    // the system has no thread left. So write the cause on this thread.
    formation->store_->CompareSet(kFailureKey, "", EncodeFailure(rank, failure))
        .IgnoreError();
    return failure;
  }
  return formation;
}

void Formation::Watch() {
  Duration timeout = kFirstWatch;
  while (!ended() && MonotonicNow() < deadline_) {
    const absl::StatusOr<std::string> told =
        store_->Get(kFailureKey, std::min(deadline_, MonotonicNow() + timeout));
    if (told.ok()) return GiveUp(DecodeFailure(*told, rank_));
    if (!absl::IsDeadlineExceeded(told.status())) {
      return GiveUp(RoundOverError(told.status()));
    }
    timeout = std::min(timeout * 2, kLongestWatch);
  }
}

void Formation::Interrupt(const absl::Status& cause) {
  // Fail publishes the cause before any connection is closed. So a peer that
  // sees a closed connection finds the cause in the store.
  if (!ended()) GiveUp(Fail(cause));
}

void Formation::GiveUp(const absl::Status& cause) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (ended_ || !cause_.ok()) return;
  cause_ = cause;
  changed_.notify_all();
  const uint64_t one = 1;
  if (wake_.open()) (void)!write(wake_.get(), &one, sizeof(one));
  for (const Act& act : reactions_) act(cause_);
}

absl::Status Formation::Fail(const absl::Status& mine) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!cause_.ok()) return cause_;
    if (!failed_.ok()) return failed_;
  }
  const absl::Status agreed = record_.Settle(mine);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (failed_.ok()) failed_ = agreed;
  return failed_;
}

void Formation::End() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ended_ = true;
  wake_.Close();
}

absl::Status Formation::status() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return cause_;
}

bool Formation::ended() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return ended_;
}

int Formation::wake_fd() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return wake_.get();
}

absl::Status Formation::Do(std::function<void()> call) {
  // Whether `call`, which runs on a new thread, has returned. Guarded by
  // mutex_.
  const auto done = std::make_shared<bool>(false);
  if (absl::Status given_up = status(); !given_up.ok()) return given_up;
  try {
    std::thread([self = shared_from_this(), call = std::move(call), done] {
      call();
      const std::lock_guard<std::mutex> lock(self->mutex_);
      *done = true;
      self->changed_.notify_all();
    }).detach();
  } catch (const std::system_error& error) {
    return NoThread(error);
  }
  std::unique_lock<std::mutex> lock(mutex_);
  // The time until which this thread waits for `call`, which runs on another
  // thread. This time is later than the time at which `call` gives up waiting
  // for the store. So if the store does not answer, the caller gets the precise
  // error of `call`.
  const Instant until = std::max(deadline_, MonotonicNow()) + 2 * kStoreTimeout;
  if (!changed_.wait_until(lock, ToSteady(until),
                           [&] { return *done || !cause_.ok(); })) {
    return absl::DeadlineExceededError("the store has not answered in time");
  }
  return *done ? absl::OkStatus() : cause_;
}

FormationReaction::FormationReaction(
    std::shared_ptr<Formation> formation,
    std::function<void(const absl::Status& cause)> act)
    : formation_(std::move(formation)) {
  if (formation_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(formation_->mutex_);
  if (!formation_->cause_.ok()) act(formation_->cause_);
  act_ = formation_->reactions_.insert(formation_->reactions_.end(),
                                       std::move(act));
}

FormationReaction::~FormationReaction() {
  if (formation_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(formation_->mutex_);
  formation_->reactions_.erase(act_);
}

absl::Status FormationStatus(const GroupPlace& place) {
  return place.formation == nullptr ? absl::OkStatus()
                                    : place.formation->status();
}

int FormationWakeFd(const GroupPlace& place) {
  return place.formation == nullptr ? -1 : place.formation->wake_fd();
}

absl::Status FailFormation(const GroupPlace& place, const absl::Status& mine) {
  return place.formation == nullptr ? mine : place.formation->Fail(mine);
}

namespace {

// The longest single wait on the store. A wait cannot be cancelled. So after
// its caller has given up, a wait continues for at most this long.
constexpr Duration kLongestWait = std::chrono::seconds(5);

bool IsLate(const absl::Status& status) {
  return absl::IsDeadlineExceeded(status);
}
bool IsLate(const absl::StatusOr<std::string>& value) {
  return IsLate(value.status());
}

// If `status` is Unavailable, adds to its message that the round (one world of
// the job) is over, or its store is gone. Any other status is unchanged.
absl::Status WithMeaning(const absl::Status& status) {
  return RoundOverError(status);
}
template <typename Value>
absl::StatusOr<Value> WithMeaning(absl::StatusOr<Value> value) {
  if (value.ok()) return value;
  return RoundOverError(value.status());
}

}  // namespace

FormingStore::FormingStore(std::shared_ptr<Store> store,
                           std::shared_ptr<Formation> formation)
    : store_(std::move(store)), formation_(std::move(formation)) {}

template <typename Result>
Result FormingStore::Call(std::function<Result(Store& store)> call) {
  if (formation_->ended()) return call(*store_);
  const auto answer = std::make_shared<std::optional<Result>>();
  const absl::Status done =
      formation_->Do([store = store_, call = std::move(call), answer] {
        answer->emplace(call(*store));
      });
  if (!done.ok()) return done;
  return WithMeaning(std::move(**answer));
}

template <typename Result>
Result FormingStore::CallUntil(
    std::function<Result(Store& store, Instant until)> call, Instant deadline) {
  return Call<Result>([formation = formation_, call = std::move(call),
                       deadline](Store& store) -> Result {
    for (;;) {
      const Instant until = std::min(deadline, MonotonicNow() + kLongestWait);
      Result result = call(store, until);
      if (until == deadline || !IsLate(result) || !formation->status().ok()) {
        return result;
      }
    }
  });
}

absl::Status FormingStore::Set(const std::string& key,
                               const std::string& value) {
  return Call<absl::Status>([=](Store& s) { return s.Set(key, value); });
}

absl::StatusOr<std::string> FormingStore::Get(const std::string& key,
                                              Instant deadline) {
  return CallUntil<absl::StatusOr<std::string>>(
      [=](Store& s, Instant until) { return s.Get(key, until); }, deadline);
}

absl::Status FormingStore::Wait(const std::vector<std::string>& keys,
                                Instant deadline) {
  return CallUntil<absl::Status>(
      [=](Store& s, Instant until) { return s.Wait(keys, until); }, deadline);
}

absl::StatusOr<int64_t> FormingStore::Add(const std::string& key,
                                          int64_t amount) {
  return Call<absl::StatusOr<int64_t>>(
      [=](Store& s) { return s.Add(key, amount); });
}

absl::StatusOr<std::string> FormingStore::CompareSet(
    const std::string& key, const std::string& expected,
    const std::string& desired) {
  return Call<absl::StatusOr<std::string>>(
      [=](Store& s) { return s.CompareSet(key, expected, desired); });
}

absl::StatusOr<bool> FormingStore::Delete(const std::string& key) {
  return Call<absl::StatusOr<bool>>([=](Store& s) { return s.Delete(key); });
}

absl::StatusOr<bool> FormingStore::Check(const std::vector<std::string>& keys) {
  return Call<absl::StatusOr<bool>>([=](Store& s) { return s.Check(keys); });
}

absl::StatusOr<std::unique_ptr<Transport>> FormTransport(
    const TransportFactory& factory, GroupPlace place, Instant deadline) {
  if (place.formation == nullptr) {
    // No formation is needed in two cases: a group of one rank has no peers to
    // notify, and without a store no peer can be notified.
    if (place.size == 1 || place.store == nullptr) {
      return factory(std::move(place), deadline);
    }
    auto formation = Formation::Begin(place.store, place.rank, deadline);
    if (!formation.ok()) return formation.status();
    place.formation = *std::move(formation);
  }
  const std::shared_ptr<Formation> formation = place.formation;
  place.store = std::make_shared<FormingStore>(place.store, formation);
  auto transport = factory(std::move(place), deadline);
  if (!transport.ok()) transport = formation->Fail(transport.status());
  formation->End();
  return transport;
}

absl::Status NamedAfter(const GroupPlace& place, const absl::Status& status) {
  return absl::Status(
      status.code(),
      absl::StrCat("group ", place.name, ": ", std::string(status.message())));
}

}  // namespace muster
