#include "trainer_sdk/process_group/store_exchange.h"

#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/message_text.h"
#include "base/monotonic_clock.h"

namespace muster {
namespace {

constexpr char kTable[] = "table";
constexpr char kRead[] = "read";

std::string KeyOf(int rank) { return absl::StrCat("rank/", rank); }

// If `status` is a timeout, adds the ranks that did not arrive to the message
// of `status`. Any other status is unchanged.
absl::Status NameAbsent(Store& store, int size, const std::string& what,
                        const absl::Status& status) {
  if (!absl::IsDeadlineExceeded(status)) return status;
  std::vector<int> absent;
  for (int rank = 0; rank < size; rank++) {
    const absl::StatusOr<bool> there = store.Check({KeyOf(rank)});
    if (there.ok() && !*there) absent.push_back(rank);
  }
  if (absent.empty()) return status;
  return absl::DeadlineExceededError(
      absl::StrCat(RankRanges(absent), " did not come to ", what, " in time"));
}

// Waits until rank 0 has published the encoded list of all ranks' texts, and
// returns this list.
absl::StatusOr<std::string> Table(Store& store, int size,
                                  const std::string& what, Instant deadline) {
  absl::StatusOr<std::string> table = store.Get(kTable, deadline);
  if (!absl::IsDeadlineExceeded(table.status())) return table;
  absl::Status late = NameAbsent(store, size, what, table.status());
  // Try once more to read the list: rank 0 may have published the list and
  // deleted the ranks' texts just now. In this case the error `late` may name
  // ranks that did arrive, because NameAbsent treats a rank without a text as
  // absent.
  table = store.Get(kTable, MonotonicNow());
  if (table.ok()) return table;
  return late;
}

absl::Status Collect(Store& store, int size, Instant deadline) {
  std::vector<std::string> keys;
  keys.reserve(static_cast<size_t>(size));
  for (int rank = 0; rank < size; rank++) keys.push_back(KeyOf(rank));
  absl::Status status = store.Wait(keys, deadline);
  if (!status.ok()) return status;
  std::vector<std::string> texts;
  for (const std::string& key : keys) {
    absl::StatusOr<std::string> text = store.Get(key, deadline);
    if (!text.ok()) return text.status();
    texts.push_back(*std::move(text));
  }
  absl::Status told = store.Set(kTable, EncodeTexts(texts));
  if (!told.ok()) return told;
  for (const std::string& key : keys) {
    const absl::StatusOr<bool> deleted = store.Delete(key);
    if (!deleted.ok()) return deleted.status();
  }
  return absl::OkStatus();
}

}  // namespace

std::string EncodeTexts(const std::vector<std::string>& texts) {
  std::string encoded;
  for (const std::string& text : texts) {
    absl::StrAppend(&encoded, text.size(), ":", text);
  }
  return encoded;
}

absl::StatusOr<std::vector<std::string>> DecodeTexts(const std::string& encoded,
                                                     int size) {
  std::vector<std::string> texts;
  size_t at = 0;
  while (at < encoded.size()) {
    const size_t colon = encoded.find(':', at);
    uint64_t length = 0;
    if (colon == std::string::npos ||
        !absl::SimpleAtoi(encoded.substr(at, colon - at), &length) ||
        length > encoded.size() - colon - 1) {
      return absl::InvalidArgumentError("no texts of ranks in the store");
    }
    texts.push_back(encoded.substr(colon + 1, length));
    at = colon + 1 + length;
  }
  if (texts.size() != static_cast<size_t>(size)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the store has texts of ", texts.size(), " ranks, not of ", size));
  }
  return texts;
}

absl::StatusOr<std::vector<std::string>> ExchangeThroughStore(
    Store& store, int rank, int size, const std::string& mine,
    const std::string& what, Instant deadline) {
  absl::Status status = store.Set(KeyOf(rank), mine);
  if (status.ok() && rank == 0) status = Collect(store, size, deadline);
  if (!status.ok()) return NameAbsent(store, size, what, status);
  const absl::StatusOr<std::string> table = Table(store, size, what, deadline);
  if (!table.ok()) return table.status();
  absl::StatusOr<std::vector<std::string>> texts = DecodeTexts(*table, size);
  const absl::StatusOr<int64_t> readers = store.Add(kRead, 1);
  if (!readers.ok()) return readers.status();
  if (*readers == size) {
    for (const char* key : {kTable, kRead}) {
      const absl::StatusOr<bool> deleted = store.Delete(key);
      if (!deleted.ok()) return deleted.status();
    }
  }
  return texts;
}

}  // namespace muster
