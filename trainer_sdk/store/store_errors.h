#ifndef MUSTER_TRAINER_SDK_STORE_STORE_ERRORS_H_
#define MUSTER_TRAINER_SDK_STORE_STORE_ERRORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"

namespace muster {

// Formats the first `shown` of `names` as a text: "'a', 'b' and 3 more".
// Unprintable bytes are escaped.
std::string NameSome(const std::vector<std::string>& names, size_t shown);

// Makes the DeadlineExceeded error for keys that do not exist: "waited 2.0 s
// for keys 'a', 'b' and 3 more, which no client has set in STORE". `store` is
// the description of the store.
absl::Status AbsentKeysError(const std::vector<std::string>& absent,
                             Duration waited, const std::string& store);

// Computes the result of Store::Add for `key`, whose current value is `value`:
// the sum, or FailedPrecondition.
absl::StatusOr<int64_t> SumOf(const std::string& key, const std::string& value,
                              int64_t amount);

// Rewords an Unavailable error of the store for a rank that waits for its
// peers: "the round is over, or its store is gone: ...". Any other status is
// returned unchanged.
absl::Status RoundOverError(const absl::Status& of_store);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_STORE_STORE_ERRORS_H_
