#include "trainer_sdk/gloo/gloo_store.h"

#include <gloo/common/error.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"

namespace muster {
namespace {

std::string KeyOf(const std::string& key) { return absl::StrCat("gloo/", key); }

std::vector<std::string> KeysOf(const std::vector<std::string>& keys) {
  std::vector<std::string> ours;
  ours.reserve(keys.size());
  for (const std::string& key : keys) ours.push_back(KeyOf(key));
  return ours;
}

void ThrowUnlessOk(const absl::Status& status) {
  if (!status.ok()) {
    throw gloo::IoException(std::string(status.message()));
  }
}

}  // namespace

GlooStore::GlooStore(std::shared_ptr<muster::Store> store, Instant deadline)
    : store_(std::move(store)), deadline_(deadline) {}

void GlooStore::set(const std::string& key, const std::vector<char>& data) {
  ThrowUnlessOk(store_->Set(KeyOf(key), std::string(data.begin(), data.end())));
}

std::vector<char> GlooStore::get(const std::string& key) {
  const absl::StatusOr<std::string> value = store_->Get(KeyOf(key), deadline_);
  ThrowUnlessOk(value.status());
  return std::vector<char>(value->begin(), value->end());
}

void GlooStore::wait(const std::vector<std::string>& keys) {
  ThrowUnlessOk(store_->Wait(KeysOf(keys), deadline_));
}

void GlooStore::wait(const std::vector<std::string>& keys,
                     const std::chrono::milliseconds& timeout) {
  const Instant now = MonotonicNow();
  // Compared in milliseconds: in nanoseconds, Gloo's longest would overflow.
  const bool shorter =
      timeout < std::chrono::floor<std::chrono::milliseconds>(deadline_ - now);
  ThrowUnlessOk(
      store_->Wait(KeysOf(keys), shorter ? now + timeout : deadline_));
}

}  // namespace muster
