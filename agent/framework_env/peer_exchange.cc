#include "agent/framework_env/peer_exchange.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/message_text.h"
#include "base/monotonic_clock.h"
#include "store/client/store_channel.h"
#include "store/wire/request.h"

namespace muster::agent {
namespace {

// The time for reading the addresses of the ranks in the store, after the wait
// until all ranks have published theirs. If the wait timed out, this is the
// time limit for finding the ranks that have published no address. If the wait
// succeeded, this is the least time for reading the addresses, even if the
// deadline of the exchange is nearer.
constexpr Duration kAbsentRanksTimeout = std::chrono::seconds(5);
constexpr size_t kLongestAddress = 300;

// The store key of a rank's address. PyTorch's clients never use it: all of
// their keys begin with "/".
std::string KeyOf(const std::string& topic, int rank) {
  return absl::StrCat("muster/", topic, "/", rank);
}

std::vector<std::string> KeysOf(const std::string& topic, int ranks) {
  std::vector<std::string> keys;
  keys.reserve(ranks);
  for (int rank = 0; rank < ranks; ++rank) keys.push_back(KeyOf(topic, rank));
  return keys;
}

std::string RequestFor(store::StoreCommand command,
                       const std::vector<std::string>& keys) {
  store::StoreRequest request{.command = command};
  request.keys.assign(keys.begin(), keys.end());
  std::string bytes;
  store::AppendRequest(request, &bytes);
  return bytes;
}

absl::StatusOr<std::vector<std::string>> ReadAll(
    store::StoreChannel& channel, const std::vector<std::string>& keys,
    Instant deadline) {
  absl::Status sent =
      channel.Send(RequestFor(store::StoreCommand::kMultiGet, keys), deadline);
  if (!sent.ok()) return sent;
  absl::StatusOr<store::StoreReply> reply =
      channel.Receive(store::StoreCommand::kMultiGet, keys.size(), deadline);
  if (!reply.ok()) return reply.status();
  return std::move(reply->strings);
}

// Returns an error that names the ranks that have published nothing. Uses a new
// connection to the store, because the old connection is blocked in a wait.
absl::Status NameAbsent(const PeerMeeting& meeting, Instant started,
                        const std::vector<std::string>& keys) {
  const Instant until = MonotonicNow() + kAbsentRanksTimeout;
  absl::StatusOr<store::StoreChannel> channel =
      store::StoreChannel::Open(meeting.host, meeting.port, until);
  if (!channel.ok()) return channel.status();
  const absl::StatusOr<std::vector<std::string>> told =
      ReadAll(*channel, keys, until);
  if (!told.ok()) return told.status();
  std::vector<int> absent;
  for (size_t rank = 0; rank < told->size(); ++rank) {
    if ((*told)[rank].empty()) absent.push_back(static_cast<int>(rank));
  }
  return absl::DeadlineExceededError(
      absl::StrFormat("waited %.1f s for the address of %s of %d",
                      ToSeconds(MonotonicNow() - started), RankRanges(absent),
                      meeting.world_size));
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ExchangeAddresses(
    const PeerMeeting& meeting, const std::string& topic,
    const std::string& own, int wanted) {
  if (own.empty() || own.size() > kLongestAddress) {
    return absl::InvalidArgumentError("this node's address is unknown");
  }
  if (static_cast<size_t>(wanted) > store::kMaxStoreKeys) {
    return absl::InvalidArgumentError(
        absl::StrCat("a world of more than ", store::kMaxStoreKeys,
                     " workers cannot tell each other their addresses"));
  }
  const Instant started = MonotonicNow();
  absl::StatusOr<store::StoreChannel> channel =
      store::DialStore(meeting.host, meeting.port, meeting.deadline);
  if (!channel.ok()) return channel.status();
  const std::vector<std::string> keys = KeysOf(topic, wanted);
  const std::string own_key = KeyOf(topic, meeting.rank);
  std::string requests;
  store::AppendRequest(
      {.command = store::StoreCommand::kSet, .key = own_key, .value = own},
      &requests);
  requests += RequestFor(store::StoreCommand::kWait, keys);
  absl::Status sent = channel->Send(requests, meeting.deadline);
  if (!sent.ok()) return sent;
  const absl::StatusOr<store::StoreReply> all =
      channel->Receive(store::StoreCommand::kWait, 0, meeting.deadline);
  if (absl::IsDeadlineExceeded(all.status())) {
    return NameAbsent(meeting, started, keys);
  }
  if (!all.ok()) return all.status();
  return ReadAll(
      *channel, keys,
      std::max(meeting.deadline, MonotonicNow() + kAbsentRanksTimeout));
}

}  // namespace muster::agent
