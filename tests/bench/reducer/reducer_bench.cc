// Measures a backward pass with and without the Reducer, alternately, with
// ranks that share memory. The script `run` in this folder starts it. Prints
// for each pair of steps of rank 0
//
//   BARE_MICROSECONDS REDUCED_MICROSECONDS EXPOSED_MICROSECONDS
//
// usage: reducer_bench RANKS block|tiny|large own|bucket STEPS
//
// block, tiny, large: the workload (workload.h). own, bucket: the memory of the
// gradients (GradientPlace).

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/monotonic_clock.h"
#include "tests/bench/reducer/workload.h"
#include "trainer_sdk/ddp/reducer.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/shared_memory/shared_memory_transport.h"
#include "trainer_sdk/shared_memory/testing/forked_ranks.h"

namespace muster {
namespace {

struct Arguments {
  int ranks = 0;
  WorkloadShape shape;
  GradientPlace place = GradientPlace::kOwn;
  int steps = 0;
};

// Number of pairs of steps that are not measured. In these steps, memory is
// touched for the first time and buckets are rebuilt.
constexpr int kWarmUp = 3;

double Microseconds(Duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

absl::Status ReducedStep(Workload& workload, Reducer& reducer) {
  absl::Status status = reducer.Begin(GradientSync::kReduce);
  workload.Backward(
      [&](int i) { return static_cast<float*>(reducer.gradient(i)); },
      [&](int i) {
        if (status.ok()) status = reducer.MarkReady(i);
      });
  return status.ok() ? reducer.Finish() : status;
}

absl::Status RunRank(const Arguments& arguments, const GroupPlace& place) {
  auto group =
      ProcessGroup::Create(place, [](GroupPlace of_group, Instant deadline) {
        return NewSharedMemoryTransport(std::move(of_group), {}, deadline);
      });
  if (!group.ok()) return group.status();
  Workload workload(arguments.shape);
  DdpOptions options;
  options.place = arguments.place;
  auto reducer = Reducer::Create(**group, workload.tensors(), options);
  if (!reducer.ok()) return reducer.status();
  for (int step = 0; step < kWarmUp + arguments.steps; ++step) {
    // All ranks start each step together. Otherwise the time of a step with the
    // Reducer would include the wait for ranks that still run the step without
    // it.
    absl::Status status = (*group)->Run(Barrier());
    if (!status.ok()) return status;
    const Instant bare = MonotonicNow();
    workload.Backward();
    const Duration bare_took = MonotonicNow() - bare;
    status = (*group)->Run(Barrier());
    if (!status.ok()) return status;
    const Duration exposed_before = (*reducer)->times().exposed;
    const Instant reduced = MonotonicNow();
    status = ReducedStep(workload, **reducer);
    const Duration reduced_took = MonotonicNow() - reduced;
    if (!status.ok()) return status;
    if (place.rank > 0 || step < kWarmUp) continue;
    std::printf("%.3f %.3f %.3f\n", Microseconds(bare_took),
                Microseconds(reduced_took),
                Microseconds((*reducer)->times().exposed - exposed_before));
  }
  std::fflush(stdout);
  return absl::OkStatus();
}

int Run(int argc, char** argv) {
  Arguments arguments;
  if (argc == 5) {
    arguments = {.ranks = std::atoi(argv[1]),
                 .shape = ShapeOf(argv[2]),
                 .place = std::string(argv[3]) == "own"
                              ? GradientPlace::kOwn
                              : GradientPlace::kBucket,
                 .steps = std::atoi(argv[4])};
  }
  if (arguments.ranks < 1 || arguments.shape.layers == 0) {
    std::fprintf(stderr,
                 "usage: reducer_bench RANKS block|tiny|large own|bucket "
                 "STEPS\n");
    return 2;
  }
  const ForkedRanks ranks(arguments.ranks, [&](const GroupPlace& place) {
    return RunRank(arguments, place);
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
