#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_FAILING_STORE_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_FAILING_STORE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/store/store.h"

namespace muster {

// Forwards to another store, except that one call fails with Internal:
// "planted". Calls with the keys of a FailureRecord are not counted.
class FailingStore final : public Store {
 public:
  // `failing`: index of the call that fails, from 0.
  FailingStore(std::shared_ptr<Store> store, int failing);

  // Whether that call was reached.
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
  // Counts a call with `key`, and returns its planted error or OK.
  absl::Status Next(const std::string& key);

  const std::shared_ptr<Store> store_;
  const int failing_;
  std::atomic<int> calls_{0};
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_FAILING_STORE_H_
