#include "trainer_sdk/process_group/split_table.h"

#include <algorithm>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "trainer_sdk/process_group/store_exchange.h"

namespace muster {
namespace {

absl::StatusOr<SplitChoice> Decoded(const std::string& text) {
  const std::vector<std::string> numbers = absl::StrSplit(text, ',');
  SplitChoice choice;
  if (numbers.size() != 2 || !absl::SimpleAtoi(numbers[0], &choice.color) ||
      !absl::SimpleAtoi(numbers[1], &choice.key)) {
    return absl::InvalidArgumentError("no color and key of a split");
  }
  return choice;
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

absl::StatusOr<std::vector<SplitChoice>> ExchangeChoices(Store& store, int rank,
                                                         int size,
                                                         SplitChoice choice,
                                                         Instant deadline) {
  const absl::StatusOr<std::vector<std::string>> texts = ExchangeThroughStore(
      store, rank, size, absl::StrCat(choice.color, ",", choice.key), "Split",
      deadline);
  if (!texts.ok()) return texts.status();
  std::vector<SplitChoice> choices;
  for (const std::string& text : *texts) {
    const absl::StatusOr<SplitChoice> one = Decoded(text);
    if (!one.ok()) return one.status();
    choices.push_back(*one);
  }
  return choices;
}

}  // namespace muster
