#include "trainer_sdk/process_group/split.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "trainer_sdk/process_group/store_exchange.h"
#include "trainer_sdk/store/prefix_store.h"

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

namespace {

// The birth number (GroupPlace::birth) of a group distinguishes it from earlier
// groups of the same name. Split computes the birth number of a new group from
// the parent group: the parent's birth number times this factor, plus the index
// of this Split among the parent's splits. The factor is larger than any such
// index, so different splits yield different numbers.
constexpr uint64_t kSplits = 1000003;

}  // namespace

GroupPlace PartOf(const GroupPlace& parent,
                  const std::vector<int>& parent_global_ranks,
                  const std::vector<int>& members, int color,
                  const SplitNaming& naming, std::vector<int>* global_ranks) {
  GroupPlace place;
  global_ranks->clear();
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i] == parent.rank) place.rank = static_cast<int>(i);
    global_ranks->push_back(parent_global_ranks[members[i]]);
  }
  place.size = static_cast<int>(members.size());
  place.store = std::make_shared<PrefixStore>(
      absl::StrCat(naming.prefix, "/group", color), parent.store);
  place.name = absl::StrCat(parent.name, "/",
                            naming.label.empty() ? naming.prefix : naming.label,
                            ":", color);
  place.birth = parent.birth * kSplits + static_cast<uint64_t>(naming.number);
  return place;
}

Operation SplitOperation() {
  Operation operation;
  operation.kind = OperationKind::kSplit;
  return operation;
}

absl::Status MeetToSplit(Transport& transport,
                         const std::shared_ptr<Formation>& formation,
                         const OperationContext& context) {
  const FormationReaction given_up(
      formation, [&transport](const absl::Status& cause) {
        transport.Abort(std::string(cause.message()));
      });
  return transport.Execute(SplitOperation(), context);
}

}  // namespace muster
