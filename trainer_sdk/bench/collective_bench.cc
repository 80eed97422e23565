// `muster-bench`: the worker program of `launch bench`. Started by launch,
// torchrun, mpirun or srun, it measures a collective among all processes that
// the launcher started. Started without a launcher, it is the only rank.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "trainer_sdk/bench/bench.h"
#include "trainer_sdk/bench/bench_options.h"
#include "trainer_sdk/session/session.h"
#include "trainer_sdk/transports/session_world.h"

namespace muster {
namespace {

int Refuse(const absl::Status& status, int code) {
  std::fprintf(stderr, "muster-bench: %s\n",
               std::string(status.message()).c_str());
  return code;
}

int Bench(const std::vector<std::string>& arguments) {
  const absl::StatusOr<BenchOptions> options = ParseBenchOptions(arguments);
  if (!options.ok()) return Refuse(options.status(), 2);
  if (options->help) {
    std::fputs(BenchHelp().c_str(), stdout);
    return 0;
  }
  const auto session = Session::FromEnvironment();
  if (!session.ok()) return Refuse(session.status(), 1);
  const auto world = NewWorld(**session, options->transport);
  if (!world.ok()) return Refuse(world.status(), 1);
  const absl::Status status =
      RunBench(**world, *options, [](const std::string& text) {
        std::fputs(text.c_str(), stdout);
        std::fflush(stdout);
      });
  return status.ok() ? 0 : Refuse(status, 1);
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  return muster::Bench(std::vector<std::string>(argv + 1, argv + argc));
}
