#include "trainer_sdk/process_group/forming_store.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/monotonic_clock.h"
#include "trainer_sdk/store/store_errors.h"

namespace muster {
namespace {

// A wait on the store cannot be cancelled, so an abandoned wait lasts at most
// this long.
constexpr Duration kLongestWait = std::chrono::seconds(5);

bool IsLate(const absl::Status& status) {
  return absl::IsDeadlineExceeded(status);
}
bool IsLate(const absl::StatusOr<std::string>& value) {
  return IsLate(value.status());
}

// The call and the formation's watch report the end of a round with the same
// error.
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

}  // namespace muster
