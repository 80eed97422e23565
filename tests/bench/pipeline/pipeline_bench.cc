// Runs a pipeline whose ranks share memory. Compares the time of each step with
// an ideal: the time that its schedule would take if messages cost nothing. The
// script `run` in this folder starts it. Prints for each step
//
//   STEP IDEAL IDEAL_OF_ITS_OWN_PASSES     (microseconds)
//
// STEP is measured. Both ideals are simulated from measured times of the
// stages' passes. For IDEAL, the passes were measured without a pipeline, just
// before the step, while all ranks computed. For IDEAL_OF_ITS_OWN_PASSES, they
// were measured in the step itself.
//
// usage: pipeline_bench RANKS CHUNKS SCHEDULE MICRO_BATCHES STEPS
// CHUNKS: number of pipeline stages of each rank

#include <sched.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/monotonic_clock.h"
#include "models/gpt/gpt_config.h"
#include "models/gpt/gpt_pipeline_stage.h"
#include "tests/bench/pipeline/measured_costs.h"
#include "tests/bench/pipeline/stage_times.h"
#include "trainer_sdk/pipeline/runtime/pipeline_runtime.h"
#include "trainer_sdk/pipeline/schedule/generators.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/shared_memory/shared_memory_transport.h"
#include "trainer_sdk/shared_memory/testing/forked_ranks.h"

namespace muster {
namespace {

// The model size that nanoGPT uses for training on a CPU.
constexpr models::GptConfig kModel{.vocabulary = 65,
                                   .context = 64,
                                   .layers = 4,
                                   .heads = 4,
                                   .width = 128,
                                   .biases = models::GptConfig::Biases::kNone};
constexpr int64_t kBatch = 12;
// Number of steps that are not measured: the first ones allocate and touch
// memory.
constexpr int kWarmUp = 3;

absl::Status Fill(int micro_batch, models::GptMicroBatch* filled) {
  const int64_t rows = kBatch * kModel.context;
  filled->tokens.resize(static_cast<size_t>(rows));
  filled->targets.resize(static_cast<size_t>(rows));
  for (int64_t i = 0; i < rows; ++i) {
    const auto at = static_cast<size_t>(i);
    filled->tokens[at] = static_cast<int32_t>((i * 7 + micro_batch) % 65);
    filled->targets[at] = static_cast<int32_t>((i * 11 + micro_batch) % 65);
  }
  return absl::OkStatus();
}

// Pins the rank to one core, as launch does, if there are enough cores.
void PinToCore(int rank) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<unsigned>(rank) % std::thread::hardware_concurrency(),
          &cores);
  sched_setaffinity(0, sizeof(cores), &cores);
}

// The pipeline stages of one rank, with their weights.
struct Stages {
  std::vector<std::unique_ptr<models::GptWeights>> weights;
  std::vector<std::unique_ptr<models::GptPipelineStage>> stages;
  std::vector<PipelineStage*> all;

  Stages(int rank, const PipelineShape& shape,
         const std::vector<models::GptLayers>& layers) {
    for (int stage = rank; stage < shape.stages(); stage += shape.ranks) {
      weights.push_back(std::make_unique<models::GptWeights>(
          kModel, layers[static_cast<size_t>(stage)]));
      weights.back()->Initialize(1);
      stages.push_back(std::make_unique<models::GptPipelineStage>(
          *weights.back(), kBatch, kModel.context,
          models::GptStage::Checkpointing::kNone, Fill, nullptr));
      all.push_back(stages.back().get());
    }
  }
};

// Measures one step: from a moment at which all ranks start together until the
// loss is known. Returns the time of the slowest rank in nanoseconds.
absl::StatusOr<int64_t> TimedStep(ProcessGroup& group,
                                  PipelineRuntime& runtime) {
  if (absl::Status status = group.Run(Barrier()); !status.ok()) return status;
  const Instant begin = MonotonicNow();
  if (auto loss = runtime.Step(); !loss.ok()) return loss.status();
  int64_t took = (MonotonicNow() - begin).count();
  absl::Status status =
      group.Run(AllReduce(&took, &took, 1, DType::kInt64, ReduceOp::kMax));
  if (!status.ok()) return status;
  return took;
}

absl::Status RunRank(const PipelineSchedule& schedule, int steps,
                     const GroupPlace& place) {
  PinToCore(place.rank);
  auto group =
      ProcessGroup::Create(place, [](GroupPlace of_group, Instant deadline) {
        return NewSharedMemoryTransport(std::move(of_group), {}, deadline);
      });
  if (!group.ok()) return group.status();
  const auto layers = models::SplitLayers(kModel, schedule.shape.stages());
  if (!layers.ok()) return layers.status();
  const Stages stages(place.rank, schedule.shape, *layers);
  auto runtime = PipelineRuntime::Create(**group, schedule, stages.all);
  if (!runtime.ok()) return runtime.status();
  for (int step = 0; step < kWarmUp + steps; ++step) {
    const auto costs =
        MeasureStagesAlone(**group, (*runtime)->schedule(), stages.all);
    if (!costs.ok()) return costs.status();
    const auto took = TimedStep(**group, **runtime);
    if (!took.ok()) return took.status();
    const auto timeline = MeasuredTimeline(**runtime, **group);
    if (!timeline.ok()) return timeline.status();
    const auto ideal = Simulate(schedule, *costs);
    if (!ideal.ok()) return ideal.status();
    const auto own = Simulate(schedule, MeasuredCosts({*timeline}));
    if (!own.ok()) return own.status();
    if (place.rank > 0 || step < kWarmUp) continue;
    std::printf("%.1f %.1f %.1f\n", static_cast<double>(*took) / 1e3,
                static_cast<double>(ideal->makespan) / 1e3,
                static_cast<double>(own->makespan) / 1e3);
  }
  std::fflush(stdout);
  return absl::OkStatus();
}

int Run(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr,
                 "usage: pipeline_bench RANKS CHUNKS SCHEDULE MICRO_BATCHES "
                 "STEPS\n");
    return 2;
  }
  const auto kind = ParseScheduleName(argv[3]);
  const auto schedule =
      kind.ok() ? MakeSchedule(*kind, {std::atoi(argv[1]), std::atoi(argv[2]),
                                       std::atoi(argv[4])})
                : absl::StatusOr<PipelineSchedule>(kind.status());
  if (!schedule.ok()) {
    std::fprintf(stderr, "%s\n", schedule.status().ToString().c_str());
    return 2;
  }
  const ForkedRanks ranks(schedule->shape.ranks, [&](const GroupPlace& place) {
    return RunRank(*schedule, std::atoi(argv[5]), place);
  });
  int code = 0;
  for (const absl::Status& status :
       ranks.Wait(MonotonicNow() + std::chrono::minutes(5))) {
    if (status.ok()) continue;
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    code = 1;
  }
  return code;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) { return muster::Run(argc, argv); }
