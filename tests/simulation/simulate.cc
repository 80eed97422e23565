// Simulates the job of one seed, or of many seeds, and prints the failures:
//
//   simulate --seed N [--trace]           seed N; --trace prints every event
//   simulate --seeds FIRST COUNT          COUNT seeds, from FIRST on
//   simulate --until-failure FIRST COUNT  the same, but stops at a failure
//
// After --seeds or --until-failure, --etcd skips each seed whose coordinators
// do not share their state in etcd.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/simulation/cluster.h"

namespace {

using muster::simulation::Cluster;
using muster::simulation::Trace;

int RunOne(uint64_t seed, Trace::Echo echo, size_t tail) {
  Cluster cluster(seed, echo);
  const std::string failure = cluster.Run();
  if (failure.empty()) return 0;
  std::printf("%s\nseed %llu: %s\n", cluster.stage().trace.Tail(tail).c_str(),
              static_cast<unsigned long long>(seed), failure.c_str());
  return 1;
}

bool HasEtcd(uint64_t seed) {
  muster::simulation::Random random(seed);
  return muster::simulation::DrawPlan(random, seed).etcd();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 3 && std::strcmp(argv[1], "--seed") == 0) {
    const uint64_t seed = std::strtoull(argv[2], nullptr, 10);
    const bool traced = argc > 3 && std::strcmp(argv[3], "--trace") == 0;
    return RunOne(seed, traced ? Trace::Echo::kToStdout : Trace::Echo::kNo,
                  traced ? 0 : 60);
  }
  const bool until_failure =
      argc >= 4 && std::strcmp(argv[1], "--until-failure") == 0;
  if (until_failure || (argc >= 4 && std::strcmp(argv[1], "--seeds") == 0)) {
    const uint64_t first = std::strtoull(argv[2], nullptr, 10);
    const uint64_t count = std::strtoull(argv[3], nullptr, 10);
    const bool etcd_only = argc > 4 && std::strcmp(argv[4], "--etcd") == 0;
    int failed = 0;
    int run = 0;
    for (uint64_t seed = first; seed < first + count; ++seed) {
      if (failed > 0 && until_failure) break;
      if (etcd_only && !HasEtcd(seed)) continue;
      failed += RunOne(seed, Trace::Echo::kNo, 0);
      ++run;
    }
    std::printf("%d of %d seeds failed\n", failed, run);
    return failed > 0 ? 1 : 0;
  }
  std::fprintf(
      stderr,
      "usage: simulate --seed N [--trace]\n"
      "       simulate --seeds|--until-failure FIRST COUNT [--etcd]\n");
  return 2;
}
