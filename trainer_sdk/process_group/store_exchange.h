#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_STORE_EXCHANGE_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_STORE_EXCHANGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/store/store.h"

namespace muster {

// Texts, one after another with their lengths, and back. InvalidArgument
// unless the text holds `size` of them. Pure.
std::string EncodeTexts(const std::vector<std::string>& texts);
absl::StatusOr<std::vector<std::string>> DecodeTexts(const std::string& encoded,
                                                     int size);

// Every rank's text, by rank: all tell rank 0, which tells all, so that the
// store does as many things as there are ranks, not their square. `store`:
// keys of this exchange only, deleted once all have read. DeadlineExceeded
// names who did not come to `what`.
absl::StatusOr<std::vector<std::string>> ExchangeThroughStore(
    Store& store, int rank, int size, const std::string& mine,
    const std::string& what, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_STORE_EXCHANGE_H_
