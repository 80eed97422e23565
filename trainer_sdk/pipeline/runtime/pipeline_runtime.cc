#include "trainer_sdk/pipeline/runtime/pipeline_runtime.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/pipeline/runtime/first_cause.h"
#include "trainer_sdk/pipeline/runtime/rank_plan.h"
#include "trainer_sdk/pipeline/runtime/stream_agreement.h"
#include "trainer_sdk/pipeline/runtime/streams.h"
#include "trainer_sdk/pipeline/schedule/lowering.h"
#include "trainer_sdk/pipeline/schedule/validator.h"
#include "trainer_sdk/process_group/clock_lead.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

// Adds sends and receives if the schedule has none, and checks the schedule.
absl::StatusOr<PipelineSchedule> Lowered(PipelineSchedule schedule) {
  const bool lowered = std::any_of(
      schedule.ranks.begin(), schedule.ranks.end(), [](const auto& actions) {
        return std::any_of(
            actions.begin(), actions.end(),
            [](const Action& action) { return IsCommunication(action.kind); });
      });
  if (!lowered) {
    auto made = AddCommunication(schedule);
    if (!made.ok()) return made.status();
    schedule = *std::move(made);
  }
  if (absl::Status wrong = CheckLowered(schedule); !wrong.ok()) return wrong;
  return schedule;
}

absl::Status CheckFits(const PipelineSchedule& schedule,
                       const ProcessGroup& group,
                       const std::vector<PipelineStage*>& stages) {
  const PipelineShape& shape = schedule.shape;
  if (std::count(stages.begin(), stages.end(), nullptr) > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a stage of rank ", group.rank(), " is null"));
  }
  if (shape.ranks == group.size() &&
      static_cast<size_t>(shape.stages_per_rank) == stages.size()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "a schedule for ", shape.ranks, " ranks with ", shape.stages_per_rank,
      " stages each; there are ", group.size(), " ranks, and rank ",
      group.rank(), " has ", stages.size(), " stages"));
}

}  // namespace

class PipelineRuntime::Body {
 public:
  Body(int rank, PipelineSchedule schedule, std::vector<PipelineStage*> stages,
       PipelineOptions options)
      : rank_(rank),
        schedule_(std::move(schedule)),
        stages_(std::move(stages)),
        options_(options),
        step_(PlanRank(schedule_, rank, PipelinePass::Purpose::kTraining)),
        evaluation_(
            PlanRank(schedule_, rank, PipelinePass::Purpose::kEvaluation)) {}

  // The channels must be destroyed first, because their pending transfers use
  // buffers that belong to `streams_`.
  ~Body() { channels_.reset(); }

  absl::Status Prepare(ProcessGroup& group) {
    auto everybody = group.Split(0, rank_, "pipeline");
    if (!everybody.ok()) return everybody.status();
    everybody_ = *std::move(everybody);
    auto inputs = AgreeOnStreams();
    if (!inputs.ok()) return inputs.status();
    auto channels =
        PipelineChannels::Create(group, shape(), LongestStream(*inputs));
    if (!channels.ok()) return channels.status();
    channels_ = *std::move(channels);
    streams_ = std::make_unique<PipelineStreams>(
        *channels_, shape(), *std::move(inputs), options_.timeout);
    for (size_t chunk = 0; chunk < stages_.size(); ++chunk) {
      stages_[chunk]->ReserveActivationSlots(step_.activation_slots[chunk]);
    }
    measured_.reserve(step_.actions.size());
    return absl::OkStatus();
  }

  absl::StatusOr<double> Perform(PipelinePass::Purpose purpose, double factor) {
    if (!broken_.ok()) return broken_;
    const bool training = purpose == PipelinePass::Purpose::kTraining;
    if (training) measured_.clear();
    loss_ = 0;
    streams_->Begin(purpose);
    for (const PlannedAction& planned :
         (training ? step_ : evaluation_).actions) {
      if (absl::Status status = Do(planned, factor); !status.ok()) {
        return Break(status);
      }
    }
    if (absl::Status status = streams_->Drain(); !status.ok()) {
      return Break(status);
    }
    loss_ /= shape().micro_batches;
    const absl::Status told =
        everybody_->Run(Broadcast(&loss_, &loss_, 1, DType::kFloat64,
                                  shape().RankOf(shape().stages() - 1)),
                        {.timeout = options_.timeout});
    if (!told.ok()) {
      return Break(absl::Status(
          told.code(),
          absl::StrCat("the loss did not come from the last stage: ",
                       FirstCause(std::string(told.message())))));
    }
    return loss_;
  }

  const std::vector<MeasuredAction>& measured() const { return measured_; }
  const PipelineSchedule& schedule() const { return schedule_; }
  int stream_buffers() const { return streams_->buffers(); }

 private:
  const PipelineShape& shape() const { return schedule_.shape; }

  // Checks that all ranks have the same schedule and that each stage's output
  // fits the next stage's input. Returns the shapes of all stages' inputs.
  // Collective.
  absl::StatusOr<std::vector<StreamShape>> AgreeOnStreams() {
    const size_t ranks = static_cast<size_t>(shape().ranks);
    std::vector<int64_t> schedules(ranks * kScheduleNumbers);
    if (absl::Status status = Gather(EncodeSchedule(schedule_), &schedules);
        !status.ok()) {
      return status;
    }
    if (absl::Status wrong = CheckSameSchedule(schedules); !wrong.ok()) {
      return wrong;
    }
    std::vector<int64_t> mine;
    for (size_t chunk = 0; chunk < stages_.size(); ++chunk) {
      const int stage = static_cast<int>(chunk) * shape().ranks + rank_;
      StageStreams own;
      if (stage > 0) own.input = stages_[chunk]->InputShape();
      if (stage + 1 < shape().stages()) {
        own.output = stages_[chunk]->OutputShape();
      }
      const std::vector<int64_t> numbers = EncodeStreams(own);
      mine.insert(mine.end(), numbers.begin(), numbers.end());
    }
    std::vector<int64_t> all(ranks * mine.size());
    if (absl::Status status = Gather(mine, &all); !status.ok()) return status;
    return AgreedInputs(all, shape());
  }

  absl::Status Gather(const std::vector<int64_t>& mine,
                      std::vector<int64_t>* all) {
    return everybody_->Run(
        AllGather(mine.data(), all->data(), static_cast<int64_t>(mine.size()),
                  DType::kInt64),
        {.timeout = options_.timeout});
  }

  absl::Status Do(const PlannedAction& planned, double factor) {
    switch (planned.action.kind) {
      case ActionKind::kRecvForward:
      case ActionKind::kRecvBackward:
        streams_->Receive(planned.action);
        return absl::OkStatus();
      case ActionKind::kSendForward:
      case ActionKind::kSendBackward:
        streams_->Send(planned.action);
        return absl::OkStatus();
      default:
        return Compute(planned.action, planned.pass, factor);
    }
  }

  absl::Status Compute(const Action& action, const PipelinePass& pass,
                       double factor) {
    auto taken = streams_->Take(action);
    if (!taken.ok()) return taken.status();
    auto given = streams_->Make(action);
    if (!given.ok()) return given.status();
    MeasuredAction measured{
        .action = action, .begin = MonotonicNow(), .end = {}};
    absl::Status status = Call(action, pass, taken->data, given->data, factor);
    measured.end = MonotonicNow();
    if (!status.ok()) {
      return absl::Status(
          status.code(),
          absl::StrCat("stage ", action.stage, " on rank ",
                       channels_->WorldRank(rank_), ", ", ToString(action),
                       ": ", absl::string_view(status.message())));
    }
    if (pass.purpose == PipelinePass::Purpose::kTraining) {
      measured_.push_back(measured);
    }
    PipelineStreams::Free(*taken);
    streams_->Put(action, *given);
    return absl::OkStatus();
  }

  absl::Status Call(const Action& action, const PipelinePass& pass,
                    const void* taken, void* given, double factor) {
    PipelineStage& stage =
        *stages_[static_cast<size_t>(action.stage / shape().ranks)];
    if (pass.purpose == PipelinePass::Purpose::kEvaluation &&
        action.kind != ActionKind::kForward) {
      return absl::OkStatus();
    }
    switch (action.kind) {
      case ActionKind::kForward: {
        absl::Status status = stage.Forward(pass, taken, given);
        if (!status.ok() || action.stage + 1 < shape().stages()) return status;
        const absl::StatusOr<double> loss =
            stage.Loss(pass, factor / shape().micro_batches);
        if (loss.ok()) loss_ += *loss;
        return loss.status();
      }
      case ActionKind::kBackward:
        return stage.Backward(pass, taken, given);
      case ActionKind::kInputBackward:
        return stage.BackwardInput(pass, taken, given);
      default:
        return stage.BackwardWeight(pass);
    }
  }

  absl::Status Break(const absl::Status& status) {
    broken_ = status;
    const std::string reason = BrokenBecause(std::string(status.message()));
    channels_->Abort(reason);
    everybody_->Abort(reason);
    return status;
  }

  const int rank_;
  const PipelineSchedule schedule_;
  const std::vector<PipelineStage*> stages_;
  const PipelineOptions options_;
  const RankPlan step_;
  const RankPlan evaluation_;
  // The group of all ranks, for collectives only; messages between stages use
  // groups of two ranks.
  std::unique_ptr<ProcessGroup> everybody_;
  std::unique_ptr<PipelineChannels> channels_;
  std::unique_ptr<PipelineStreams> streams_;
  std::vector<MeasuredAction> measured_;
  // The loss of the current step or evaluation. The rank that has the
  // pipeline's last stage computes the loss and broadcasts it.
  double loss_ = 0;
  absl::Status broken_;
};

PipelineRuntime::PipelineRuntime(std::unique_ptr<Body> body)
    : body_(std::move(body)) {}
PipelineRuntime::~PipelineRuntime() = default;

absl::StatusOr<std::unique_ptr<PipelineRuntime>> PipelineRuntime::Create(
    ProcessGroup& group, PipelineSchedule schedule,
    std::vector<PipelineStage*> stages, PipelineOptions options) {
  auto lowered = Lowered(std::move(schedule));
  if (!lowered.ok()) return lowered.status();
  if (absl::Status wrong = CheckFits(*lowered, group, stages); !wrong.ok()) {
    return wrong;
  }
  auto body = std::make_unique<Body>(group.rank(), *std::move(lowered),
                                     std::move(stages), options);
  if (absl::Status status = body->Prepare(group); !status.ok()) return status;
  return std::unique_ptr<PipelineRuntime>(new PipelineRuntime(std::move(body)));
}

absl::StatusOr<double> PipelineRuntime::Step(double factor) {
  return body_->Perform(PipelinePass::Purpose::kTraining, factor);
}

absl::StatusOr<double> PipelineRuntime::Evaluate() {
  return body_->Perform(PipelinePass::Purpose::kEvaluation, 1);
}

const std::vector<MeasuredAction>& PipelineRuntime::measured() const {
  return body_->measured();
}

const PipelineSchedule& PipelineRuntime::schedule() const {
  return body_->schedule();
}

int PipelineRuntime::stream_buffers() const { return body_->stream_buffers(); }

namespace {

// Returns only the computations in a rank's list of actions, in order. All
// their times are 0.
std::vector<TimedAction> ComputationsOf(const std::vector<Action>& actions) {
  std::vector<TimedAction> computations;
  for (const Action& action : actions) {
    if (!IsCommunication(action.kind)) computations.push_back({action, 0, 0});
  }
  return computations;
}

}  // namespace

absl::StatusOr<PipelineTimeline> MeasuredTimeline(
    const PipelineRuntime& runtime, ProcessGroup& group) {
  const PipelineSchedule& schedule = runtime.schedule();
  std::vector<std::vector<TimedAction>> ranks;
  std::vector<int64_t> counts;
  size_t all = 0;
  for (const std::vector<Action>& actions : schedule.ranks) {
    ranks.push_back(ComputationsOf(actions));
    counts.push_back(2 * static_cast<int64_t>(ranks.back().size()));
    all += 2 * ranks.back().size();
  }
  const size_t mine = ranks[static_cast<size_t>(group.rank())].size();
  if (runtime.measured().size() != mine) {
    return absl::FailedPreconditionError(
        absl::StrCat(runtime.measured().size(), " passes of ", mine,
                     " were measured: no whole step"));
  }
  const absl::StatusOr<int64_t> lead = ClockLead(group);
  if (!lead.ok()) return lead.status();
  std::vector<int64_t> own;
  for (const MeasuredAction& one : runtime.measured()) {
    own.push_back(one.begin.time_since_epoch().count() - *lead);
    own.push_back(one.end.time_since_epoch().count() - *lead);
  }
  std::vector<int64_t> times(all);
  absl::Status status =
      group.Run(AllGather(own.data(), times.data(), counts, DType::kInt64));
  if (!status.ok()) return status;
  const int64_t first = *std::min_element(times.begin(), times.end());
  auto time = times.begin();
  for (std::vector<TimedAction>& actions : ranks) {
    for (TimedAction& timed : actions) {
      timed.begin = *time++ - first;
      timed.end = *time++ - first;
    }
  }
  return TimelineOf(schedule.shape, std::move(ranks));
}

}  // namespace muster
