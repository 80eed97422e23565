#include "trainer_sdk/process_group/world_ranks.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/message_text.h"

namespace muster {
namespace {

constexpr std::string_view kOne = "rank ";
constexpr std::string_view kSeveral = "ranks ";

// A decimal number at the beginning of a text, and its length in characters.
// `value` is -1 if there is no number or it does not fit an int.
struct Number {
  int value = -1;
  size_t length = 0;
};

Number NumberAt(std::string_view text) {
  Number number;
  while (number.length < text.size() &&
         absl::ascii_isdigit(static_cast<unsigned char>(text[number.length])) !=
             0) {
    ++number.length;
  }
  if (!absl::SimpleAtoi(absl::string_view(text.data(), number.length),
                        &number.value)) {
    number.value = -1;
  }
  return number;
}

// The result of reading a list such as "0, 2-3" at the beginning of a text: the
// world ranks of the listed group ranks, and the length of the list in
// characters. The list ends before a number that is not a rank of the group. If
// the end of a range is not a rank of the group, `ranks` is empty.
struct List {
  std::vector<int> ranks;
  size_t length = 0;
};

List ListAt(std::string_view text, const std::vector<int>& global_ranks) {
  const int size = static_cast<int>(global_ranks.size());
  List list;
  for (size_t at = 0;;) {
    const Number first = NumberAt(text.substr(at));
    if (first.value < 0 || first.value >= size) break;
    at += first.length;
    Number last = first;
    if (text.substr(at, 1) == "-") {
      last = NumberAt(text.substr(at + 1));
      if (last.value < first.value || last.value >= size) return {};
      at += 1 + last.length;
    }
    for (int rank = first.value; rank <= last.value; ++rank) {
      list.ranks.push_back(global_ranks[static_cast<size_t>(rank)]);
    }
    list.length = at;
    if (text.substr(at, 2) != ", ") break;
    at += 2;
  }
  return list;
}

}  // namespace

std::string InWorldRanks(std::string_view text,
                         const std::vector<int>& global_ranks) {
  std::string told;
  while (true) {
    const size_t word = std::min(text.find(kOne), text.find(kSeveral));
    if (word == std::string_view::npos) return told.append(text);
    told.append(text.substr(0, word));
    text.remove_prefix(word);
    const bool several = text.substr(0, kSeveral.size()) == kSeveral;
    const std::string_view noun = several ? kSeveral : kOne;
    List list = ListAt(text.substr(noun.size()), global_ranks);
    if (!several && !list.ranks.empty()) {
      // After the singular "rank" only the first number is a rank: in "rank 1,
      // 2 of ..." the number 2 is not a rank.
      list.length = NumberAt(text.substr(noun.size())).length;
      list.ranks.resize(1);
    }
    if (list.ranks.empty()) {
      told.append(noun);
      text.remove_prefix(noun.size());
      continue;
    }
    std::sort(list.ranks.begin(), list.ranks.end());
    told.append(RankRanges(list.ranks));
    text.remove_prefix(noun.size() + list.length);
  }
}

absl::Status InWorldRanks(const absl::Status& status,
                          const std::vector<int>& global_ranks) {
  bool same = true;
  for (size_t rank = 0; rank < global_ranks.size(); ++rank) {
    same = same && global_ranks[rank] == static_cast<int>(rank);
  }
  if (same || status.ok() || absl::IsInvalidArgument(status) ||
      absl::IsUnimplemented(status)) {
    return status;
  }
  const std::string_view message(status.message().data(),
                                 status.message().size());
  size_t end = message.size();
  if (absl::IsAborted(status)) {
    const size_t by = message.find("aborted by ");
    end = by == std::string_view::npos ? message.find("aborted: ")
                                       : message.find(": ", by);
    if (end == std::string_view::npos) end = 0;
  }
  return absl::Status(status.code(),
                      InWorldRanks(message.substr(0, end), global_ranks)
                          .append(message.substr(end)));
}

}  // namespace muster
