#include "trainer_sdk/pipeline/schedule/schedule.h"

#include <array>
#include <cstddef>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace muster {
namespace {

// The names of actions in the text of a schedule, indexed by ActionKind.
constexpr std::array<std::string_view, 8> kNames = {
    "F", "B", "I", "W", "SEND_F", "RECV_F", "SEND_B", "RECV_B"};

constexpr size_t kMaxDigits = 6;

// Removes a decimal number from the front of `text` and returns it; nullopt if
// `text` does not begin with a number of at most six digits without leading
// zeros.
std::optional<int> TakeNumber(std::string_view& text) {
  size_t digits = 0;
  int number = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    if (digits == kMaxDigits) return std::nullopt;
    number = number * 10 + (text[digits++] - '0');
  }
  if (digits == 0 || (digits > 1 && text[0] == '0')) return std::nullopt;
  text.remove_prefix(digits);
  return number;
}

}  // namespace

std::string_view ActionName(ActionKind kind) {
  return kNames[static_cast<size_t>(kind)];
}

std::string ToString(const Action& action) {
  return std::to_string(action.stage)
      .append(ActionName(action.kind))
      .append(std::to_string(action.micro_batch));
}

absl::StatusOr<Action> ParseAction(std::string_view text) {
  std::string_view rest = text;
  const std::optional<int> stage = TakeNumber(rest);
  const std::string_view name =
      rest.substr(0, rest.find_first_of("0123456789"));
  rest.remove_prefix(name.size());
  const std::optional<int> micro_batch = TakeNumber(rest);
  for (size_t kind = 0; kind < kNames.size(); ++kind) {
    if (stage && micro_batch && rest.empty() && name == kNames[kind]) {
      return Action{*stage, static_cast<ActionKind>(kind), *micro_batch};
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", absl::string_view(text.data(), text.size() < 40 ? text.size() : 40),
      "' is no action of a pipeline, such as 2F0, 1B3 or 0SEND_F1"));
}

}  // namespace muster
