#include "trainer_sdk/process_group/last_operations.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/message_text.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/process_group/failure_record.h"
#include "trainer_sdk/store/call_within.h"

namespace muster {
namespace {

// The maximum number of ranks whose last operations a rank reads. Every rank
// reads these operations, so without the limit the total number of reads would
// grow with the square of the group's size.
constexpr int kMaxRanksRead = 128;

std::string KeyOf(int rank) { return absl::StrCat("last_operation/", rank); }

// An operation, and the ranks whose last call was this operation. In a list,
// entries with more ranks come first; entries with equally many ranks are
// ordered by their lowest rank.
using Camp = std::pair<OperationSignature, std::vector<int>>;

std::vector<Camp> CampsOf(
    const std::vector<std::pair<int, OperationSignature>>& calls) {
  std::vector<Camp> camps;
  for (const auto& entry : calls) {
    const OperationSignature& call = entry.second;
    auto camp = std::find_if(camps.begin(), camps.end(), [&](const Camp& c) {
      return SameCollective(c.first, call);
    });
    if (camp == camps.end()) camp = camps.insert(camp, {call, {}});
    camp->second.push_back(entry.first);
  }
  std::stable_sort(camps.begin(), camps.end(),
                   [](const Camp& a, const Camp& b) {
                     return a.second.size() > b.second.size();
                   });
  return camps;
}

void Append(std::string& text, const std::string& sentence) {
  absl::StrAppend(&text, text.empty() ? "" : "; ", sentence);
}

const char* Verb(const std::vector<int>& ranks, const char* one,
                 const char* several) {
  return ranks.size() == 1 ? one : several;
}

// Whether `text` names `rank`, as "rank 3" for rank 3. "rank 31" does not name
// rank 3.
bool Names(const std::string& text, int rank) {
  const std::string name = absl::StrCat("rank ", rank);
  for (size_t at = text.find(name); at != std::string::npos;
       at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if (end == text.size() || !absl::ascii_isdigit(text[end])) return true;
  }
  return false;
}

}  // namespace

std::string CompareLastOperations(
    const std::vector<std::optional<OperationSignature>>& operations,
    const std::string& told) {
  std::vector<std::pair<int, OperationSignature>> collectives;
  std::vector<int> silent;
  std::string messages;
  uint64_t front = 0;
  for (size_t i = 0; i < operations.size(); i++) {
    const int rank = static_cast<int>(i);
    if (!operations[i]) {
      if (!Names(told, rank)) silent.push_back(rank);
    } else if (IsPointToPoint(operations[i]->kind)) {
      Append(messages,
             absl::StrCat("rank ", rank, " was in ", Describe(*operations[i])));
    } else {
      collectives.emplace_back(rank, *operations[i]);
      front = std::max(front, operations[i]->sequence);
    }
  }
  std::vector<std::pair<int, OperationSignature>> leading;
  for (const auto& call : collectives) {
    if (call.second.sequence == front) leading.push_back(call);
  }
  std::string text;
  const std::vector<Camp> camps = CampsOf(leading);
  if (camps.size() > 1 || leading.size() < collectives.size()) {
    for (const auto& [call, ranks] : camps) {
      Append(text, absl::StrCat(RankRanges(ranks), " called ", Describe(call)));
    }
  }
  for (const auto& [rank, call] : collectives) {
    if (call.sequence == front) continue;
    Append(text,
           absl::StrCat("rank ", rank, " is behind, at ", Describe(call)));
  }
  if (!messages.empty()) Append(text, messages);
  if (!silent.empty()) {
    Append(text, absl::StrCat(
                     "of ", RankRanges(silent),
                     " nothing is known: ", Verb(silent, "it has", "they have"),
                     " not called, ", Verb(silent, "waits", "wait"),
                     " elsewhere or ", Verb(silent, "is", "are"), " gone"));
  }
  return text;
}

absl::Status PublishLastOperation(const GroupPlace& place,
                                  const OperationSignature& last) {
  return place.store->Set(KeyOf(place.rank), Encoded(last));
}

std::vector<std::optional<OperationSignature>> ReadLastOperations(
    const GroupPlace& place, Instant deadline) {
  const int ranks = std::min(place.size, kMaxRanksRead);
  std::vector<std::string> keys;
  keys.reserve(ranks);
  for (int rank = 0; rank < ranks; rank++) keys.push_back(KeyOf(rank));
  // Wait returns OK only if all ranks have published their last operations.
  // After any other result some operations may still be in the store, so check
  // each key before reading it.
  const absl::Status everybody = place.store->Wait(keys, deadline);
  std::vector<std::optional<OperationSignature>> operations(ranks);
  for (int rank = 0; rank < ranks; rank++) {
    if (!everybody.ok()) {
      const absl::StatusOr<bool> there = place.store->Check({keys[rank]});
      if (absl::IsUnavailable(there.status())) break;
      if (!there.ok() || !*there) continue;
    }
    const absl::StatusOr<std::string> text =
        place.store->Get(keys[rank], MonotonicNow() + std::chrono::seconds(1));
    if (!text.ok()) continue;
    const absl::StatusOr<OperationSignature> operation = DecodeSignature(*text);
    if (operation.ok()) operations[rank] = *operation;
  }
  return operations;
}

namespace {

// The time limit for the store's own work: writing this rank's last operation,
// and reading the last operations of the peers. This limit is added to the wait
// that the caller allows.
constexpr Duration kStoreTimeout = std::chrono::seconds(1);

}  // namespace

std::string ExchangeLastOperations(const GroupPlace& place,
                                   const OperationSignature& last,
                                   const absl::Status& failure, Duration wait) {
  // This call has a time limit, because a store behind a broken network may
  // never answer.
  const auto differences = CallWithin<std::string>(
      wait + kStoreTimeout,
      [place, last, wait, told = std::string(failure.message()),
       record = EncodeFailure(place.rank, failure)]() -> std::string {
        // Reports the failure to ranks that are blocked in a Split.
        place.store->CompareSet(kFailureKey, "", record).IgnoreError();
        const bool published = PublishLastOperation(place, last).ok();
        if (!published || wait == Duration::zero()) return "";
        return CompareLastOperations(
            ReadLastOperations(place, MonotonicNow() + wait), told);
      });
  return differences.value_or("");
}

}  // namespace muster
