#include "trainer_sdk/process_group/testing/failing_store.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trainer_sdk/process_group/failure_record.h"

namespace muster {

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

}  // namespace muster
