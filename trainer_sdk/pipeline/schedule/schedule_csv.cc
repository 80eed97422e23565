#include "trainer_sdk/pipeline/schedule/schedule_csv.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "trainer_sdk/pipeline/schedule/validator.h"

namespace muster {
namespace {

constexpr size_t kMaxBytes = size_t{64} << 20;

std::string_view Stripped(std::string_view cell) {
  const size_t begin = cell.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return cell.substr(begin, cell.find_last_not_of(" \t\r") - begin + 1);
}

// Removes the next `separator` and all text before it from `text`. Returns the
// text before the separator. If there is no separator, removes and returns all
// of `text`.
std::string_view TakeUntil(char separator, std::string_view& text) {
  const size_t length = std::min(text.find(separator), text.size());
  const std::string_view piece = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return piece;
}

absl::StatusOr<std::vector<Action>> ParseLine(std::string_view line,
                                              size_t number) {
  std::vector<Action> actions;
  for (size_t column = 1; !line.empty(); ++column) {
    const std::string_view cell = Stripped(TakeUntil(',', line));
    if (cell.empty()) continue;
    const absl::StatusOr<Action> action = ParseAction(cell);
    if (!action.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ", column ", column, ": ",
                       action.status().message()));
    }
    actions.push_back(*action);
  }
  return actions;
}

absl::Status TakeShape(PipelineSchedule* schedule) {
  int stages = 1;
  int micro_batches = 1;
  for (const std::vector<Action>& actions : schedule->ranks) {
    for (const Action& action : actions) {
      stages = std::max(stages, action.stage + 1);
      micro_batches = std::max(micro_batches, action.micro_batch + 1);
    }
  }
  const int ranks = static_cast<int>(schedule->ranks.size());
  if (ranks == 0) {
    return absl::InvalidArgumentError("there is no schedule in it");
  }
  if (stages % ranks != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the number of stages (", stages,
        ") is not a multiple of the number of lines, one for each rank (",
        ranks, ")"));
  }
  schedule->shape = {ranks, stages / ranks, micro_batches};
  return absl::OkStatus();
}

}  // namespace

std::string WriteScheduleCsv(const PipelineSchedule& schedule) {
  std::string text;
  for (const std::vector<Action>& actions : schedule.ranks) {
    for (size_t i = 0; i < actions.size(); ++i) {
      text.append(i == 0 ? "" : ",").append(ToString(actions[i]));
    }
    text.push_back('\n');
  }
  return text;
}

absl::StatusOr<PipelineSchedule> ReadScheduleCsv(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a schedule of ", text.size(), " bytes; at most ",
                     kMaxBytes, " are read"));
  }
  PipelineSchedule schedule;
  bool communicates = false;
  for (size_t number = 1; !text.empty(); ++number) {
    absl::StatusOr<std::vector<Action>> actions =
        ParseLine(TakeUntil('\n', text), number);
    if (!actions.ok()) return actions.status();
    for (const Action& action : *actions) {
      communicates = communicates || IsCommunication(action.kind);
    }
    schedule.ranks.push_back(*std::move(actions));
  }
  // Some editors add empty lines at the end of a file. Such lines do not count
  // as ranks.
  while (!schedule.ranks.empty() && schedule.ranks.back().empty()) {
    schedule.ranks.pop_back();
  }
  absl::Status status = TakeShape(&schedule);
  if (!status.ok()) return status;
  status = communicates ? CheckLowered(schedule) : CheckComputations(schedule);
  if (!status.ok()) return status;
  return schedule;
}

}  // namespace muster
