#ifndef MUSTER_TRAINER_SDK_STORE_IN_PROCESS_STORE_H_
#define MUSTER_TRAINER_SDK_STORE_IN_PROCESS_STORE_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/store/store.h"

namespace muster {

// A store for ranks that share one process: a world of one, or tests whose
// ranks are threads. Thread-safe.
//
// FailedPrecondition: Add was called for a key whose value is not a decimal
// number.
class InProcessStore final : public Store {
 public:
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
  std::vector<std::string> Absent(const std::vector<std::string>& keys) const;
  absl::Status WaitLocked(std::unique_lock<std::mutex>& lock,
                          const std::vector<std::string>& keys,
                          Instant deadline);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> values_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_STORE_IN_PROCESS_STORE_H_
