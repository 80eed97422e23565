#include "trainer_sdk/shared_memory/testing/forked_store.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/monotonic_clock.h"
#include "base/time.h"

namespace muster {
namespace {

void* MapShared(size_t bytes) {
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  MUSTER_CHECK(data != MAP_FAILED) << std::strerror(errno);
  return data;
}

}  // namespace

class ForkedStore::Lock {
 public:
  explicit Lock(pthread_mutex_t* mutex) : mutex_(mutex) {
    // EOWNERDEAD: a process was killed while it held the lock. The store stays
    // usable: at most one value is half written, and no other process waits for
    // that value.
    if (pthread_mutex_lock(mutex_) == EOWNERDEAD) {
      pthread_mutex_consistent(mutex_);
    }
  }
  ~Lock() { pthread_mutex_unlock(mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t* const mutex_;
};

ForkedStore::ForkedStore()
    : shared_(static_cast<Shared*>(MapShared(sizeof(Shared)))) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&shared_->mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

ForkedStore::~ForkedStore() { munmap(shared_, sizeof(Shared)); }

ForkedStore::Entry* ForkedStore::Find(const std::string& key) const {
  for (Entry& entry : shared_->entries) {
    if (key == entry.key) return &entry;
  }
  return nullptr;
}

absl::Status ForkedStore::SetLocked(const std::string& key,
                                    const std::string& value) {
  Entry* entry = Find(key);
  if (entry == nullptr) entry = Find("");
  if (entry == nullptr || key.empty() || key.size() >= sizeof(entry->key) ||
      value.size() >= sizeof(entry->value)) {
    return absl::ResourceExhaustedError(absl::StrCat("no room for ", key));
  }
  std::strcpy(entry->value, value.c_str());
  std::strcpy(entry->key, key.c_str());
  Changed();
  return absl::OkStatus();
}

void ForkedStore::Changed() {
  shared_->changes.fetch_add(1);
  syscall(SYS_futex, &shared_->changes, FUTEX_WAKE, INT_MAX, nullptr, nullptr,
          0);
}

void ForkedStore::AwaitChange(uint32_t seen, Instant deadline) const {
  // Wait for a short time only, because a wake-up may be missing: a process may
  // be killed after it changed the store and before it woke the waiting
  // processes. The caller repeats the wait.
  const Duration left =
      std::clamp<Duration>(deadline - MonotonicNow(), Duration::zero(),
                           std::chrono::milliseconds(100));
  const timespec timeout = ToTimespec(left);
  syscall(SYS_futex, &shared_->changes, FUTEX_WAIT, seen, &timeout, nullptr, 0);
}

absl::Status ForkedStore::Set(const std::string& key,
                              const std::string& value) {
  const Lock lock(&shared_->mutex);
  return SetLocked(key, value);
}

absl::StatusOr<std::string> ForkedStore::Get(const std::string& key,
                                             Instant deadline) {
  absl::Status waited = Wait({key}, deadline);
  if (!waited.ok()) return waited;
  const Lock lock(&shared_->mutex);
  const Entry* const entry = Find(key);
  return std::string(entry == nullptr ? "" : entry->value);
}

absl::Status ForkedStore::Wait(const std::vector<std::string>& keys,
                               Instant deadline) {
  while (true) {
    const uint32_t seen = shared_->changes.load();
    if (*Check(keys)) return absl::OkStatus();
    if (MonotonicNow() >= deadline) {
      return absl::DeadlineExceededError(absl::StrCat("no key ", keys[0]));
    }
    AwaitChange(seen, deadline);
  }
}

absl::StatusOr<int64_t> ForkedStore::Add(const std::string& key,
                                         int64_t amount) {
  const Lock lock(&shared_->mutex);
  int64_t sum = 0;
  const Entry* const entry = Find(key);
  if (entry != nullptr && !absl::SimpleAtoi(entry->value, &sum)) {
    return absl::FailedPreconditionError(absl::StrCat(key, " is no number"));
  }
  sum += amount;
  absl::Status set = SetLocked(key, absl::StrCat(sum));
  if (!set.ok()) return set;
  return sum;
}

absl::StatusOr<std::string> ForkedStore::CompareSet(
    const std::string& key, const std::string& expected,
    const std::string& desired) {
  const Lock lock(&shared_->mutex);
  const Entry* const entry = Find(key);
  if (entry == nullptr && !expected.empty()) return expected;
  if (entry != nullptr && expected != entry->value) {
    return std::string(entry->value);
  }
  absl::Status set = SetLocked(key, desired);
  if (!set.ok()) return set;
  return desired;
}

absl::StatusOr<bool> ForkedStore::Delete(const std::string& key) {
  const Lock lock(&shared_->mutex);
  Entry* const entry = Find(key);
  if (entry == nullptr) return false;
  entry->key[0] = '\0';
  return true;
}

absl::StatusOr<bool> ForkedStore::Check(const std::vector<std::string>& keys) {
  const Lock lock(&shared_->mutex);
  for (const std::string& key : keys) {
    if (Find(key) == nullptr) return false;
  }
  return true;
}

}  // namespace muster
