#include "tests/simulation/seeds.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "tests/simulation/cluster.h"

namespace muster::simulation {

std::string FirstFailure(const std::vector<uint64_t>& seeds) {
  for (const uint64_t seed : seeds) {
    Cluster cluster(seed, Trace::Echo::kNo);
    const std::string failure = cluster.Run();
    if (failure.empty()) continue;
    return absl::StrCat("seed ", seed, ": ", failure, "; it ended with\n",
                        cluster.stage().trace.Tail(60),
                        "\nTo repeat it:\n  bazel run "
                        "//tests/simulation:simulate -- --seed ",
                        seed, " --trace\n");
  }
  return "";
}

std::vector<uint64_t> SeedsFrom(uint64_t first, int count) {
  std::vector<uint64_t> seeds(static_cast<size_t>(count));
  std::iota(seeds.begin(), seeds.end(), first);
  return seeds;
}

}  // namespace muster::simulation
