#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_TESTING_FORKED_STORE_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_TESTING_FORKED_STORE_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/store/store.h"

namespace muster {

// A small store in memory that is shared with children forked later. Used by
// tests that cut off the network, because it needs no network. A child that is
// killed does not damage the store. Thread-safe.
class ForkedStore final : public Store {
 public:
  ForkedStore();
  ~ForkedStore() override;
  ForkedStore(const ForkedStore&) = delete;
  ForkedStore& operator=(const ForkedStore&) = delete;

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
  static constexpr int kEntries = 64;
  struct Entry {
    char key[128];  // the key; empty: the entry is free
    char value[512];
  };
  struct Shared {
    pthread_mutex_t mutex;
    // counts the changes of the store; a futex on which waiting processes sleep
    std::atomic<uint32_t> changes;
    Entry entries[kEntries];
  };
  class Lock;

  Entry* Find(const std::string& key) const;
  absl::Status SetLocked(const std::string& key, const std::string& value);
  void Changed();
  // Sleeps while `changes` equals `seen`, for at most 100 ms and not beyond
  // `deadline`.
  void AwaitChange(uint32_t seen, Instant deadline) const;

  Shared* const shared_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_TESTING_FORKED_STORE_H_
