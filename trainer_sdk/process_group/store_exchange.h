#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_STORE_EXCHANGE_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_STORE_EXCHANGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/store/store.h"

namespace muster {

// EncodeTexts joins a list of texts into one, in which each text follows its
// length. DecodeTexts converts the joined text back to the list. DecodeTexts
// returns InvalidArgument unless the list has exactly `size` texts. Pure.
std::string EncodeTexts(const std::vector<std::string>& texts);
absl::StatusOr<std::vector<std::string>> DecodeTexts(const std::string& encoded,
                                                     int size);

// Exchanges texts: each rank passes its text `mine` and gets the texts of all
// ranks, indexed by rank. Rank 0 collects the texts and publishes the list, so
// the number of store operations is linear in the number of ranks. Blocking.
// `store` holds keys of this exchange only; the keys are deleted once all ranks
// have read the list. DeadlineExceeded names the ranks that did not arrive;
// `what` is the operation's name in that message.
absl::StatusOr<std::vector<std::string>> ExchangeThroughStore(
    Store& store, int rank, int size, const std::string& mine,
    const std::string& what, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_STORE_EXCHANGE_H_
