#include "trainer_sdk/pipeline/schedule/generators.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace muster {
namespace {

// Upper limits for each number in a pipeline's shape (kMax) and for the actions
// of all ranks together (kMaxActions). The limits bound the time and memory
// that a schedule needs.
constexpr int kMax = 100'000;
constexpr int64_t kMaxActions = 4'000'000;

// The order of one rank's passes. Micro-batches are divided into groups. The
// rank's first stage does the forward passes of the first group, then the
// rank's next stage does the forward passes of the same group, and so on up to
// its last stage. Then the next group follows. The order of backward passes is
// the same, but from the rank's last stage to its first.
class RankOrder {
 public:
  RankOrder(const PipelineShape& shape, int rank)
      : shape_(shape),
        rank_(rank),
        group_(shape.micro_batches /
               std::max(1, shape.micro_batches / shape.ranks)) {}

  int passes() const { return shape_.micro_batches * shape_.stages_per_rank; }
  int group() const { return group_; }

  Action Forward(int pass) const {
    return {Stage(Chunk(pass)), ActionKind::kForward, MicroBatch(pass)};
  }
  Action Backward(ActionKind kind, int pass) const {
    return {Stage(shape_.stages_per_rank - 1 - Chunk(pass)), kind,
            MicroBatch(pass)};
  }

 private:
  int Chunk(int pass) const { return pass / group_ % shape_.stages_per_rank; }
  int Stage(int chunk) const { return chunk * shape_.ranks + rank_; }
  int MicroBatch(int pass) const {
    return pass / (group_ * shape_.stages_per_rank) * group_ + pass % group_;
  }

  const PipelineShape& shape_;
  const int rank_;
  // The number of micro-batches in a group. One of the rank's stages does its
  // passes of all micro-batches of a group before the rank's next stage begins
  // with the group.
  const int group_;
};

std::vector<Action> GPipe(const RankOrder& order) {
  std::vector<Action> actions;
  for (int pass = 0; pass < order.passes(); ++pass) {
    actions.push_back(order.Forward(pass));
  }
  for (int pass = 0; pass < order.passes(); ++pass) {
    actions.push_back(order.Backward(ActionKind::kBackward, pass));
  }
  return actions;
}

// One rank's passes: first `warmup` forward passes, then forward and backward
// passes alternately, then the remaining backward passes.
std::vector<Action> OneForwardOneBackward(const RankOrder& order, int warmup) {
  std::vector<Action> actions;
  for (int pass = 0; pass < order.passes() + warmup; ++pass) {
    if (pass < order.passes()) actions.push_back(order.Forward(pass));
    if (pass >= warmup) {
      actions.push_back(order.Backward(ActionKind::kBackward, pass - warmup));
    }
  }
  return actions;
}

// The passes of one rank in the order of OneForwardOneBackward, but each
// backward pass computes only the gradient of the input. The weight gradient of
// a backward pass is computed `lag` backward passes later, or at the end if
// fewer than `lag` passes follow.
std::vector<Action> ZeroBubble(const RankOrder& order, int warmup, int lag) {
  std::vector<Action> actions;
  int weights = 0;
  for (int pass = 0; pass < order.passes() + warmup; ++pass) {
    if (pass < order.passes()) actions.push_back(order.Forward(pass));
    if (pass < warmup) continue;
    actions.push_back(
        order.Backward(ActionKind::kInputBackward, pass - warmup));
    if (pass - warmup >= lag) {
      actions.push_back(order.Backward(ActionKind::kWeightBackward, weights++));
    }
  }
  while (weights < order.passes()) {
    actions.push_back(order.Backward(ActionKind::kWeightBackward, weights++));
  }
  return actions;
}

std::vector<Action> OfRank(ScheduleKind kind, const PipelineShape& shape,
                           int rank) {
  const RankOrder order(shape, rank);
  const int behind = shape.ranks - 1 - rank;
  // The number of forward passes that this rank does for the first group of
  // micro-batches before its last chunk (stage) begins with this group.
  const int chunks_ahead = (shape.stages_per_rank - 1) * order.group();
  switch (kind) {
    case ScheduleKind::kGPipe:
      return GPipe(order);
    case ScheduleKind::k1F1B:
      return OneForwardOneBackward(order, std::min(behind, order.passes()));
    case ScheduleKind::kInterleaved1F1B:
      return OneForwardOneBackward(
          order, std::min(2 * behind + chunks_ahead, order.passes()));
    case ScheduleKind::kZeroBubble1P:
      return ZeroBubble(order, std::min(behind + chunks_ahead, order.passes()),
                        rank);
  }
  return {};
}

absl::Status Check(ScheduleKind kind, const PipelineShape& shape) {
  for (const auto& [what, number] :
       {std::pair("ranks", shape.ranks),
        std::pair("stages a rank", shape.stages_per_rank),
        std::pair("micro-batches", shape.micro_batches)}) {
    if (number < 1 || number > kMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("a pipeline with ", number, " ", what));
    }
  }
  if (int64_t{3} * shape.micro_batches * shape.ranks * shape.stages_per_rank >
      kMaxActions) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a pipeline of ", shape.stages(), " stages and ", shape.micro_batches,
        " micro-batches has more than ", kMaxActions, " actions"));
  }
  if (shape.stages_per_rank == 1) return absl::OkStatus();
  if (kind == ScheduleKind::kGPipe || kind == ScheduleKind::k1F1B) {
    const std::string_view name = ScheduleName(kind);
    return absl::InvalidArgumentError(
        absl::StrCat("schedule ", absl::string_view(name.data(), name.size()),
                     " has one stage a rank, not ", shape.stages_per_rank));
  }
  const int rounds = std::max(1, shape.micro_batches / shape.ranks);
  if (shape.micro_batches % rounds != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        shape.micro_batches, " micro-batches cannot be divided into ", rounds,
        " equal rounds; use a multiple of the number of ranks, ", shape.ranks));
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view ScheduleName(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::kGPipe:
      return "gpipe";
    case ScheduleKind::k1F1B:
      return "1f1b";
    case ScheduleKind::kInterleaved1F1B:
      return "interleaved_1f1b";
    case ScheduleKind::kZeroBubble1P:
      return "zb1p";
  }
  return "";
}

absl::StatusOr<ScheduleKind> ParseScheduleName(std::string_view name) {
  std::string known;
  for (const ScheduleKind kind : kScheduleKinds) {
    if (name == ScheduleName(kind)) return kind;
    known.append(known.empty() ? "" : ", ").append(ScheduleName(kind));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "no schedule '",
      absl::string_view(name.data(), std::min<size_t>(name.size(), 40)),
      "'; there are ", known));
}

absl::StatusOr<PipelineSchedule> MakeSchedule(ScheduleKind kind,
                                              const PipelineShape& shape) {
  if (absl::Status status = Check(kind, shape); !status.ok()) {
    return status;
  }
  PipelineSchedule schedule{.shape = shape, .ranks = {}};
  for (int rank = 0; rank < shape.ranks; ++rank) {
    schedule.ranks.push_back(OfRank(kind, shape, rank));
  }
  return schedule;
}

}  // namespace muster
