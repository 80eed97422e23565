#ifndef MUSTER_TRAINER_SDK_STORE_STORE_H_
#define MUSTER_TRAINER_SDK_STORE_STORE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"

namespace muster {

// The key-value store of a round (one world of the job), as seen by workers.
// Thread-safe: a call that waits does not block calls of other threads.
//
// Deadlines are times of MonotonicNow's clock. Every method may fail with
//   DeadlineExceeded   some keys do not exist in time, and the message names
//                      them; or the store does not answer in time
//   Unavailable        the store can no longer be reached: the round is over
//   ResourceExhausted  a key or value exceeds the store's limits
// An error does not affect later calls, except Unavailable, which is permanent.
class Store {
 public:
  virtual ~Store() = default;

  virtual absl::Status Set(const std::string& key,
                           const std::string& value) = 0;

  // Blocks until the key exists, and returns its value.
  virtual absl::StatusOr<std::string> Get(const std::string& key,
                                          Instant deadline) = 0;

  // Blocks until every key exists. The message of DeadlineExceeded names the
  // missing keys.
  virtual absl::Status Wait(const std::vector<std::string>& keys,
                            Instant deadline) = 0;

  // Adds `amount` to the decimal number at the beginning of the key's value,
  // and returns the sum. An absent key counts as 0. FailedPrecondition: the
  // value does not begin with a number, or the sum overflows 64 bits; the value
  // stays unchanged.
  virtual absl::StatusOr<int64_t> Add(const std::string& key,
                                      int64_t amount) = 0;

  // Sets the value to `desired` if it equals `expected`, or if the key is
  // absent and `expected` is empty. Returns the value after the call, or
  // `expected` if the key is absent and stays absent.
  virtual absl::StatusOr<std::string> CompareSet(
      const std::string& key, const std::string& expected,
      const std::string& desired) = 0;

  virtual absl::StatusOr<bool> Delete(const std::string& key) = 0;

  // Whether every key exists now.
  virtual absl::StatusOr<bool> Check(const std::vector<std::string>& keys) = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_STORE_STORE_H_
