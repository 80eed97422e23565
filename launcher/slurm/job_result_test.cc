#include "launcher/slurm/job_result.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

namespace muster::launcher {
namespace {

// What a step's `launch` finds, as if srun had started it as that task.
std::string Path(const JobResult& result, const char* task) {
  const std::string variable = result.Variable();
  const size_t equals = variable.find('=');
  setenv(variable.substr(0, equals).c_str(),
         variable.substr(equals + 1).c_str(), 1);
  setenv("SLURM_PROCID", task, 1);
  const std::string path = TakeResultPath();
  // Not again: workers inherit the environment.
  EXPECT_EQ(TakeResultPath(), "");
  return path;
}

TEST(JobResult, IsWhatTask0Tells) {
  const JobResult result;
  EXPECT_EQ(result.Read(), std::nullopt);
  TellResult(Path(result, "1"), 9);
  EXPECT_EQ(result.Read(), std::nullopt);
  TellResult(Path(result, "0"), 75);
  EXPECT_EQ(result.Read(), 75);
}

TEST(JobResult, NothingIsLeft) {
  std::string path;
  {
    const JobResult result;
    path = Path(result, "0");
  }
  struct stat found;
  EXPECT_NE(stat(path.c_str(), &found), 0);
  // On another machine there is no such file, and none is made.
  TellResult(path, 1);
  EXPECT_NE(stat(path.c_str(), &found), 0);
}

}  // namespace
}  // namespace muster::launcher
