#include "trainer_sdk/store/prefix_store.h"

#include <utility>

#include "base/check.h"

namespace muster {

PrefixStore::PrefixStore(std::string prefix, std::shared_ptr<Store> store)
    : prefix_(std::move(prefix) + "/"), store_(std::move(store)) {
  MUSTER_CHECK(store_ != nullptr) << "prefix " << prefix_;
}

std::vector<std::string> PrefixStore::Whole(
    const std::vector<std::string>& keys) const {
  std::vector<std::string> whole;
  whole.reserve(keys.size());
  for (const std::string& key : keys) whole.push_back(Whole(key));
  return whole;
}

absl::Status PrefixStore::Set(const std::string& key,
                              const std::string& value) {
  return store_->Set(Whole(key), value);
}

absl::StatusOr<std::string> PrefixStore::Get(const std::string& key,
                                             Instant deadline) {
  return store_->Get(Whole(key), deadline);
}

absl::Status PrefixStore::Wait(const std::vector<std::string>& keys,
                               Instant deadline) {
  return store_->Wait(Whole(keys), deadline);
}

absl::StatusOr<int64_t> PrefixStore::Add(const std::string& key,
                                         int64_t amount) {
  return store_->Add(Whole(key), amount);
}

absl::StatusOr<std::string> PrefixStore::CompareSet(
    const std::string& key, const std::string& expected,
    const std::string& desired) {
  return store_->CompareSet(Whole(key), expected, desired);
}

absl::StatusOr<bool> PrefixStore::Delete(const std::string& key) {
  return store_->Delete(Whole(key));
}

absl::StatusOr<bool> PrefixStore::Check(const std::vector<std::string>& keys) {
  return store_->Check(Whole(keys));
}

}  // namespace muster
