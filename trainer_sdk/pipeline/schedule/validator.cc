#include "trainer_sdk/pipeline/schedule/validator.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "trainer_sdk/pipeline/schedule/dependencies.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {
namespace {

// The moment at which a result becomes available on another rank.
enum class Arrival {
  kAtOnce,
  // The result becomes available on another rank when the rank that computed it
  // reaches the action that sends it.
  kWhenSent,
};

// Returns the computation whose result the action `send` transfers.
Action ComputationOf(const Action& send) {
  return {send.stage,
          send.kind == ActionKind::kSendForward ? ActionKind::kForward
                                                : ActionKind::kInputBackward,
          send.micro_batch};
}

// Simulates a schedule: each rank performs its actions in order, and is blocked
// while inputs are missing.
class Walk {
 public:
  Walk(const PipelineSchedule& schedule, Arrival delivery)
      : schedule_(schedule),
        delivery_(delivery),
        done_(schedule.shape),
        sent_(schedule.shape),
        next_(schedule.ranks.size(), 0) {}

  // Performs actions on every rank until no rank can continue. InvalidArgument:
  // some ranks are blocked for ever; the message names these ranks and the next
  // action of each.
  absl::Status ToTheEnd() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < schedule_.shape.ranks; ++rank) {
        while (MayGoOn(rank)) {
          Pass(schedule_.ranks[rank][next_[rank]++]);
          moved = true;
        }
      }
    }
    std::string stuck;
    for (int rank = 0; rank < schedule_.shape.ranks; ++rank) {
      if (next_[rank] == schedule_.ranks[rank].size()) continue;
      absl::StrAppend(&stuck, stuck.empty() ? "" : ", ", "rank ", rank, " at ",
                      ToString(schedule_.ranks[rank][next_[rank]]));
    }
    if (stuck.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("the ranks wait for each other for ever: ", stuck));
  }

 private:
  bool MayGoOn(int rank) const {
    const std::vector<Action>& actions = schedule_.ranks[rank];
    if (next_[rank] == actions.size()) return false;
    const Action& action = actions[next_[rank]];
    if (IsCommunication(action.kind)) return true;
    for (const Need& need : NeedsOf(action, schedule_.shape)) {
      const bool near = schedule_.shape.RankOf(need.stage) == rank ||
                        delivery_ == Arrival::kAtOnce;
      if (!(near ? done_ : sent_).Reached(need, action.micro_batch)) {
        return false;
      }
    }
    return true;
  }

  void Pass(const Action& action) {
    if (!IsCommunication(action.kind)) {
      done_.Reach(action);
    } else if (action.kind == ActionKind::kSendForward ||
               action.kind == ActionKind::kSendBackward) {
      sent_.Reach(ComputationOf(action));
    }
  }

  const PipelineSchedule& schedule_;
  const Arrival delivery_;
  Milestones done_;
  Milestones sent_;
  std::vector<size_t> next_;
};

// Simulates the schedule: every rank performs its actions in order, each as
// soon as its inputs are available. `delivery`: when a result becomes available
// on another rank. Every action must fit the schedule's shape. InvalidArgument:
// ranks deadlock; the message names the ranks and the action at which each is
// blocked.
absl::Status WalkToTheEnd(const PipelineSchedule& schedule, Arrival delivery) {
  return Walk(schedule, delivery).ToTheEnd();
}

using Positions = std::map<Action, std::pair<int, size_t>>;

absl::Status Wrong(int rank, size_t place, const Action& action,
                   std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("rank ", rank, ", action ", place, " (", ToString(action),
                   "): ", absl::string_view(what.data(), what.size())));
}

absl::Status CheckShape(const PipelineSchedule& schedule) {
  const PipelineShape& shape = schedule.shape;
  if (shape.ranks < 1 || shape.stages_per_rank < 1 || shape.micro_batches < 1 ||
      schedule.ranks.size() != static_cast<size_t>(shape.ranks)) {
    return absl::InvalidArgumentError(absl::StrCat(
        schedule.ranks.size(), " lists of actions for ", shape.ranks,
        " ranks with ", shape.stages_per_rank, " stages each and ",
        shape.micro_batches, " micro-batches"));
  }
  return absl::OkStatus();
}

// Writes the rank and index of each action to `positions`. InvalidArgument: an
// action does not belong to this pipeline, is in the list of the wrong rank, or
// occurs twice.
absl::Status Locate(const PipelineSchedule& schedule, Positions* positions) {
  const PipelineShape& shape = schedule.shape;
  for (int rank = 0; rank < shape.ranks; ++rank) {
    const std::vector<Action>& actions = schedule.ranks[rank];
    for (size_t place = 0; place < actions.size(); ++place) {
      const Action& action = actions[place];
      if (action.stage < 0 || action.stage >= shape.stages() ||
          action.micro_batch < 0 || action.micro_batch >= shape.micro_batches) {
        return Wrong(rank, place, action,
                     "no such stage or micro-batch in this pipeline");
      }
      if (shape.RankOf(action.stage) != rank) {
        return Wrong(rank, place, action,
                     "that stage is on rank " +
                         std::to_string(shape.RankOf(action.stage)));
      }
      if (!positions->try_emplace(action, rank, place).second) {
        return Wrong(rank, place, action, "for the second time");
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckComplete(const PipelineSchedule& schedule,
                           const Positions& positions) {
  const PipelineShape& shape = schedule.shape;
  for (int stage = 0; stage < shape.stages(); ++stage) {
    for (int batch = 0; batch < shape.micro_batches; ++batch) {
      const auto has = [&](ActionKind kind) {
        return positions.contains({stage, kind, batch});
      };
      std::string missing;
      if (!has(ActionKind::kForward)) missing = "its forward";
      const bool whole = has(ActionKind::kBackward);
      const bool input = has(ActionKind::kInputBackward);
      const bool weight = has(ActionKind::kWeightBackward);
      if (whole && (input || weight)) {
        return absl::InvalidArgumentError(
            absl::StrCat("stage ", stage, " does the backward of micro-batch ",
                         batch, " both whole and in parts"));
      }
      if (!whole && !(input && weight)) {
        missing.append(missing.empty() ? "" : " and ")
            .append(input    ? "the weights' part of its backward"
                    : weight ? "the inputs' part of its backward"
                             : "its backward");
      }
      if (!missing.empty()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "stage ", stage, " lacks for micro-batch ", batch, ": ", missing));
      }
    }
  }
  return absl::OkStatus();
}

bool Uses(const Action& computation, const Action& receive) {
  if (receive.kind == ActionKind::kRecvForward) {
    return computation.kind == ActionKind::kForward;
  }
  return computation.kind == ActionKind::kBackward ||
         computation.kind == ActionKind::kInputBackward;
}

// Checks that the message with the result of `computation` is sent after the
// computation, and is received before the result is used.
absl::Status CheckMessage(const Action& computation, int rank, size_t place,
                          const Message& message, const Positions& positions) {
  const auto send = positions.find(message.send);
  if (send == positions.end() || send->second.second < place) {
    return Wrong(rank, place, computation,
                 ToString(message.send) + " is not behind it");
  }
  const auto receive = positions.find(message.receive);
  if (receive == positions.end()) {
    return Wrong(rank, place, computation,
                 ToString(message.receive) + " is nowhere");
  }
  for (const ActionKind kind : {ActionKind::kForward, ActionKind::kBackward,
                                ActionKind::kInputBackward}) {
    const Action user{message.receive.stage, kind, computation.micro_batch};
    if (!Uses(user, message.receive)) continue;
    const auto use = positions.find(user);
    if (use != positions.end() && use->second.second < receive->second.second) {
      return Wrong(receive->second.first, use->second.second, user,
                   ToString(message.receive) + " comes only after it");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMessages(const PipelineSchedule& schedule,
                           const Positions& positions) {
  size_t messages = 0;
  size_t communications = 0;
  for (const auto& [action, position] : positions) {
    if (IsCommunication(action.kind)) {
      ++communications;
      continue;
    }
    const auto message = MessageAfter(action, schedule.shape);
    if (!message) continue;
    ++messages;
    absl::Status status = CheckMessage(action, position.first, position.second,
                                       *message, positions);
    if (!status.ok()) return status;
  }
  if (communications == 2 * messages) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(communications, " sends and receives for ", messages,
                   " messages: some are of no use"));
}

// Identifies a channel, through which one rank sends one kind of data to
// another rank: (sender, receiver, kind of the send action).
using Channel = std::tuple<int, int, ActionKind>;

// For each channel, its messages in two orders: as they are sent, and as they
// are received. A received message is represented by its send action.
std::map<Channel, std::pair<std::vector<Action>, std::vector<Action>>> Channels(
    const PipelineSchedule& schedule) {
  const PipelineShape& shape = schedule.shape;
  std::map<Channel, std::pair<std::vector<Action>, std::vector<Action>>> all;
  for (int rank = 0; rank < shape.ranks; ++rank) {
    for (const Action& action : schedule.ranks[rank]) {
      const int step = action.kind == ActionKind::kSendForward ||
                               action.kind == ActionKind::kRecvBackward
                           ? 1
                           : -1;
      const int other =
          shape.RankOf((action.stage + step + shape.stages()) % shape.stages());
      switch (action.kind) {
        case ActionKind::kSendForward:
        case ActionKind::kSendBackward:
          all[{rank, other, action.kind}].first.push_back(action);
          break;
        case ActionKind::kRecvForward:
          all[{other, rank, ActionKind::kSendForward}].second.push_back(
              {action.stage - 1, ActionKind::kSendForward, action.micro_batch});
          break;
        case ActionKind::kRecvBackward:
          all[{other, rank, ActionKind::kSendBackward}].second.push_back(
              {action.stage + 1, ActionKind::kSendBackward,
               action.micro_batch});
          break;
        default:
          break;
      }
    }
  }
  return all;
}

absl::Status CheckOrder(const PipelineSchedule& schedule) {
  for (const auto& [channel, lists] : Channels(schedule)) {
    const auto& [sends, receives] = lists;
    const auto differ = std::mismatch(sends.begin(), sends.end(),
                                      receives.begin(), receives.end());
    if (differ.first == sends.end() && differ.second == receives.end()) {
      continue;
    }
    const auto name = [](auto at, auto end) {
      return at == end ? std::string("nothing") : ToString(*at);
    };
    return absl::InvalidArgumentError(
        absl::StrCat("message ", differ.first - sends.begin(), " from rank ",
                     std::get<0>(channel), " to rank ", std::get<1>(channel),
                     ": sent is ", name(differ.first, sends.end()),
                     ", received as ", name(differ.second, receives.end())));
  }
  return absl::OkStatus();
}

absl::Status CheckParts(const PipelineSchedule& schedule,
                        Positions* positions) {
  absl::Status status = CheckShape(schedule);
  if (status.ok()) status = Locate(schedule, positions);
  if (status.ok()) status = CheckComplete(schedule, *positions);
  return status;
}

}  // namespace

absl::Status CheckComputations(const PipelineSchedule& schedule) {
  Positions positions;
  absl::Status status = CheckParts(schedule, &positions);
  if (!status.ok()) return status;
  for (const auto& [action, position] : positions) {
    if (IsCommunication(action.kind)) {
      return Wrong(position.first, position.second, action,
                   "communication in a schedule without");
    }
  }
  return WalkToTheEnd(schedule, Arrival::kAtOnce);
}

absl::Status CheckLowered(const PipelineSchedule& schedule) {
  Positions positions;
  absl::Status status = CheckParts(schedule, &positions);
  if (status.ok()) status = CheckMessages(schedule, positions);
  if (status.ok()) status = WalkToTheEnd(schedule, Arrival::kWhenSent);
  if (status.ok()) status = CheckOrder(schedule);
  return status;
}

}  // namespace muster
