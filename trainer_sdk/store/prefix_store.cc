#include "trainer_sdk/store/prefix_store.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
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

absl::Status PrefixStore::WithoutPrefix(const absl::Status& status) const {
  if (status.ok()) return status;
  // Remove the prefix from the keys in the message. In messages, keys are
  // escaped, so the prefix is escaped here, too.
  return absl::Status(
      status.code(),
      absl::StrReplaceAll(
          status.message(),
          {{absl::StrCat("'", absl::CHexEscape(prefix_)), "'"}}));
}

absl::Status PrefixStore::Set(const std::string& key,
                              const std::string& value) {
  return WithoutPrefix(store_->Set(Whole(key), value));
}

absl::StatusOr<std::string> PrefixStore::Get(const std::string& key,
                                             Instant deadline) {
  auto result = store_->Get(Whole(key), deadline);
  return result.ok() ? std::move(result) : WithoutPrefix(result.status());
}

absl::Status PrefixStore::Wait(const std::vector<std::string>& keys,
                               Instant deadline) {
  return WithoutPrefix(store_->Wait(Whole(keys), deadline));
}

absl::StatusOr<int64_t> PrefixStore::Add(const std::string& key,
                                         int64_t amount) {
  auto result = store_->Add(Whole(key), amount);
  return result.ok() ? std::move(result) : WithoutPrefix(result.status());
}

absl::StatusOr<std::string> PrefixStore::CompareSet(
    const std::string& key, const std::string& expected,
    const std::string& desired) {
  auto result = store_->CompareSet(Whole(key), expected, desired);
  return result.ok() ? std::move(result) : WithoutPrefix(result.status());
}

absl::StatusOr<bool> PrefixStore::Delete(const std::string& key) {
  auto result = store_->Delete(Whole(key));
  return result.ok() ? std::move(result) : WithoutPrefix(result.status());
}

absl::StatusOr<bool> PrefixStore::Check(const std::vector<std::string>& keys) {
  auto result = store_->Check(Whole(keys));
  return result.ok() ? std::move(result) : WithoutPrefix(result.status());
}

}  // namespace muster
