#ifndef MUSTER_TRAINER_SDK_STORE_STORE_ERRORS_H_
#define MUSTER_TRAINER_SDK_STORE_STORE_ERRORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"

namespace muster {

// The first `shown` of `names`, in their order, as a text: "'a', 'b' and 3
// more". Unprintable bytes are escaped.
std::string NameSome(const std::vector<std::string>& names, size_t shown);

// The DeadlineExceeded error for keys that do not exist: "waited 2.0 s for keys
// 'a', 'b' and 3 more, which nobody set in STORE". `store` is the store's
// description.
absl::Status AbsentKeysError(const std::vector<std::string>& absent,
                             Duration waited, const std::string& store);

// The sum that Store::Add computes from `value`, the current value of `key`, or
// the FailedPrecondition that Store::Add returns.
absl::StatusOr<int64_t> SumOf(const std::string& key, const std::string& value,
                              int64_t amount);

// Explains Unavailable of a store to a rank that waits for its peers in that
// store: "the round is over, or its store is gone: ...". Any other status is
// returned unchanged.
absl::Status RoundOverError(const absl::Status& of_store);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_STORE_STORE_ERRORS_H_
