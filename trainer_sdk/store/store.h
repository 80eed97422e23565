#ifndef MUSTER_TRAINER_SDK_STORE_STORE_H_
#define MUSTER_TRAINER_SDK_STORE_STORE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"

namespace muster {

// A round's key-value store, as workers see it. Thread-safe: a call that waits
// does not keep others from theirs.
//
// Deadlines are on MonotonicNow's clock. Every method may fail with
//   DeadlineExceeded   what was waited for is not there; keys or ranks named
//   Unavailable        the store cannot be reached any more: the round is over
//   ResourceExhausted  a key or value is beyond the store's bounds
// An error of one call leaves the others as they are, but for Unavailable.
class Store {
 public:
  virtual ~Store() = default;

  virtual absl::Status Set(const std::string& key,
                           const std::string& value) = 0;

  // Waits until the key is there.
  virtual absl::StatusOr<std::string> Get(const std::string& key,
                                          Instant deadline) = 0;

  // Waits until every key is there. The error names the absent ones.
  virtual absl::Status Wait(const std::vector<std::string>& keys,
                            Instant deadline) = 0;

  // Adds to the decimal number that the key's value begins with (absent: 0);
  // the sum. FailedPrecondition: the value begins with no number, or the sum
  // is beyond 64 bits; the value stays.
  virtual absl::StatusOr<int64_t> Add(const std::string& key,
                                      int64_t amount) = 0;

  // Sets `desired` where the value is `expected`, or where there is none and
  // `expected` is empty. What is there afterwards; `expected` where the key is
  // absent and stays so.
  virtual absl::StatusOr<std::string> CompareSet(
      const std::string& key, const std::string& expected,
      const std::string& desired) = 0;

  virtual absl::StatusOr<bool> Delete(const std::string& key) = 0;

  // Whether every key is there now.
  virtual absl::StatusOr<bool> Check(const std::vector<std::string>& keys) = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_STORE_STORE_H_
