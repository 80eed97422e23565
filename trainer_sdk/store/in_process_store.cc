#include "trainer_sdk/store/in_process_store.h"

#include <algorithm>
#include <iterator>

#include "base/monotonic_clock.h"
#include "trainer_sdk/store/store_errors.h"

namespace muster {

absl::Status InProcessStore::Set(const std::string& key,
                                 const std::string& value) {
  std::lock_guard<std::mutex> lock(mutex_);
  values_[key] = value;
  changed_.notify_all();
  return absl::OkStatus();
}

std::vector<std::string> InProcessStore::Absent(
    const std::vector<std::string>& keys) const {
  std::vector<std::string> absent;
  std::copy_if(keys.begin(), keys.end(), std::back_inserter(absent),
               [this](const std::string& key) { return !values_.count(key); });
  return absent;
}

absl::Status InProcessStore::WaitLocked(std::unique_lock<std::mutex>& lock,
                                        const std::vector<std::string>& keys,
                                        Instant deadline) {
  const Instant started = MonotonicNow();
  std::vector<std::string> absent = Absent(keys);
  while (!absent.empty()) {
    const bool in_time = changed_.wait_until(lock, ToSteady(deadline)) ==
                         std::cv_status::no_timeout;
    absent = Absent(keys);
    if (!in_time && !absent.empty()) {
      return AbsentKeysError(absent, MonotonicNow() - started,
                             "the store of this process");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> InProcessStore::Get(const std::string& key,
                                                Instant deadline) {
  std::unique_lock<std::mutex> lock(mutex_);
  absl::Status there = WaitLocked(lock, {key}, deadline);
  if (!there.ok()) return there;
  return values_.at(key);
}

absl::Status InProcessStore::Wait(const std::vector<std::string>& keys,
                                  Instant deadline) {
  std::unique_lock<std::mutex> lock(mutex_);
  return WaitLocked(lock, keys, deadline);
}

absl::StatusOr<int64_t> InProcessStore::Add(const std::string& key,
                                            int64_t amount) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = values_.find(key);
  const absl::StatusOr<int64_t> sum =
      SumOf(key, found == values_.end() ? "0" : found->second, amount);
  if (!sum.ok()) return sum;
  values_[key] = std::to_string(*sum);
  changed_.notify_all();
  return sum;
}

absl::StatusOr<std::string> InProcessStore::CompareSet(
    const std::string& key, const std::string& expected,
    const std::string& desired) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = values_.find(key);
  if (found == values_.end()) {
    if (!expected.empty()) return expected;
    values_[key] = desired;
    changed_.notify_all();
    return desired;
  }
  if (found->second == expected) found->second = desired;
  return found->second;
}

absl::StatusOr<bool> InProcessStore::Delete(const std::string& key) {
  std::lock_guard<std::mutex> lock(mutex_);
  return values_.erase(key) > 0;
}

absl::StatusOr<bool> InProcessStore::Check(
    const std::vector<std::string>& keys) {
  std::lock_guard<std::mutex> lock(mutex_);
  return Absent(keys).empty();
}

}  // namespace muster
