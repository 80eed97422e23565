// Reports a training's progress to Muster, and counts the other ranks through
// the store of its Session. Runs under `launch`, torchrun, mpirun and srun, and
// without a launcher:
//
//   bazel build //examples/progress:train
//   launch --standalone --nproc-per-node 2 bazel-bin/examples/progress/train

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "base/monotonic_clock.h"
#include "trainer_sdk/session/session.h"
#include "trainer_sdk/store/store_barrier.h"

namespace muster {
namespace {

// Minimises (weight - 3)^2 on each rank separately. Returns the last loss.
double Train(int steps, Progress& progress) {
  double weight = 0, loss = 0;
  progress.Send({.watchdog = std::chrono::seconds(30), .status = "training"});
  for (int step = 1; step <= steps; ++step) {
    loss = (weight - 3) * (weight - 3);
    weight -= 0.1 * 2 * (weight - 3);
    progress.Send({.step = step, .loss = loss});
  }
  // Disables the watchdog, because the work after the training may take any
  // time.
  progress.Send({.watchdog = Duration::zero(), .status = "done"});
  return loss;
}

// Counts the ranks through the store.
absl::StatusOr<int64_t> CountRanks(Session& session) {
  absl::StatusOr<int64_t> counted = session.store()->Add("ranks", 1);
  if (!counted.ok()) return counted;
  absl::Status met = StoreBarrier(*session.store(), "counted", session.rank(),
                                  session.world_size(),
                                  MonotonicNow() + std::chrono::seconds(60));
  if (!met.ok()) return met;
  return session.store()->Add("ranks", 0);
}

int Main(int steps) {
  absl::StatusOr<std::unique_ptr<Session>> joined = Session::FromEnvironment();
  if (!joined.ok()) {
    std::cerr << joined.status() << "\n";
    return 1;
  }
  Session& session = **joined;
  const double loss = Train(steps, session.progress());
  absl::StatusOr<int64_t> ranks = CountRanks(session);
  if (!ranks.ok()) {
    std::cerr << ranks.status() << "\n";
    return 1;
  }
  // A single write, so that the lines of several ranks are not mixed.
  std::printf(
      "rank %d of %d, local rank %d of %d, node %d of %d, by %s: loss %.4f, "
      "%lld ranks met\n",
      session.rank(), session.world_size(), session.local_rank(),
      session.local_world_size(), session.group_rank(),
      session.group_world_size(), Name(session.plan().launcher), loss,
      static_cast<long long>(*ranks));
  return 0;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  return muster::Main(argc > 1 ? std::atoi(argv[1]) : 100);
}
