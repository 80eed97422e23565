#include "trainer_sdk/process_group/split_table.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "trainer_sdk/store/rank_ranges.h"

namespace muster {
namespace {

constexpr char kTable[] = "table";
constexpr char kRead[] = "read";

std::string KeyOf(int rank) { return absl::StrCat("choice/", rank); }

// `status`, with the names of those who did not come.
absl::Status NameAbsent(Store& store, int size, const absl::Status& status) {
  if (!absl::IsDeadlineExceeded(status)) return status;
  std::vector<int> absent;
  for (int rank = 0; rank < size; rank++) {
    const absl::StatusOr<bool> there = store.Check({KeyOf(rank)});
    if (there.ok() && !*there) absent.push_back(rank);
  }
  if (absent.empty()) return status;
  return absl::DeadlineExceededError(
      absl::StrCat(RankRanges(absent), " did not call Split in time"));
}

absl::Status CollectChoices(Store& store, int size, Instant deadline) {
  std::vector<std::string> keys;
  for (int rank = 0; rank < size; rank++) keys.push_back(KeyOf(rank));
  const absl::Status status = store.Wait(keys, deadline);
  if (!status.ok()) return status;
  std::vector<SplitChoice> choices;
  for (const std::string& key : keys) {
    const absl::StatusOr<std::string> text = store.Get(key, deadline);
    if (!text.ok()) return text.status();
    const absl::StatusOr<std::vector<SplitChoice>> one =
        DecodeChoices(*text, 1);
    if (!one.ok()) return one.status();
    choices.push_back(one->front());
  }
  const absl::Status told = store.Set(kTable, EncodeChoices(choices));
  if (!told.ok()) return told;
  for (const std::string& key : keys) {
    const absl::StatusOr<bool> deleted = store.Delete(key);
    if (!deleted.ok()) return deleted.status();
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<int> MembersOf(const std::vector<SplitChoice>& choices, int rank) {
  std::vector<int> members;
  const int color = choices.at(rank).color;
  if (color < 0) return members;
  for (size_t i = 0; i < choices.size(); i++) {
    if (choices[i].color == color) members.push_back(static_cast<int>(i));
  }
  std::stable_sort(members.begin(), members.end(), [&](int a, int b) {
    return choices[a].key < choices[b].key;
  });
  return members;
}

std::string EncodeChoices(const std::vector<SplitChoice>& choices) {
  std::string text;
  for (const SplitChoice& choice : choices) {
    absl::StrAppend(&text, text.empty() ? "" : ";", choice.color, ",",
                    choice.key);
  }
  return text;
}

absl::StatusOr<std::vector<SplitChoice>> DecodeChoices(const std::string& text,
                                                       int size) {
  const std::vector<std::string> parts = absl::StrSplit(text, ';');
  std::vector<SplitChoice> choices;
  for (const std::string& part : parts) {
    const std::vector<std::string> numbers = absl::StrSplit(part, ',');
    SplitChoice choice;
    if (numbers.size() != 2 || !absl::SimpleAtoi(numbers[0], &choice.color) ||
        !absl::SimpleAtoi(numbers[1], &choice.key)) {
      return absl::InvalidArgumentError("no table of a split in the store");
    }
    choices.push_back(choice);
  }
  if (choices.size() != static_cast<size_t>(size)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a split's table of ", choices.size(), " ranks for ", size));
  }
  return choices;
}

absl::StatusOr<std::vector<SplitChoice>> ExchangeChoices(Store& store, int rank,
                                                         int size,
                                                         SplitChoice choice,
                                                         Instant deadline) {
  absl::Status status = store.Set(KeyOf(rank), EncodeChoices({choice}));
  if (status.ok() && rank == 0) {
    status = CollectChoices(store, size, deadline);
  }
  if (!status.ok()) return NameAbsent(store, size, status);
  const absl::StatusOr<std::string> table = store.Get(kTable, deadline);
  if (!table.ok()) return NameAbsent(store, size, table.status());
  absl::StatusOr<std::vector<SplitChoice>> choices =
      DecodeChoices(*table, size);
  const absl::StatusOr<int64_t> readers = store.Add(kRead, 1);
  if (!readers.ok()) return readers.status();
  if (*readers == size) {
    for (const char* key : {kTable, kRead}) {
      const absl::StatusOr<bool> deleted = store.Delete(key);
      if (!deleted.ok()) return deleted.status();
    }
  }
  return choices;
}

}  // namespace muster
