#include "launcher/slurm/job_result.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

namespace muster::launcher {
namespace {

// Runs TakeResultPath in the environment that srun gives to task number `task`.
std::string Path(const JobResult& result, const char* task) {
  const std::string variable = result.Variable();
  const size_t equals = variable.find('=');
  setenv(variable.substr(0, equals).c_str(),
         variable.substr(equals + 1).c_str(), 1);
  setenv("SLURM_PROCID", task, 1);
  const std::string path = TakeResultPath();
  // A second call finds no variable, because the first one has removed it from
  // the environment that workers inherit.
  EXPECT_EQ(TakeResultPath(), "");
  return path;
}

TEST(JobResult, OnlyTask0ReportsTheExitCode) {
  const JobResult result;
  EXPECT_EQ(result.Read(), std::nullopt);
  TellResult(Path(result, "1"), 9);
  EXPECT_EQ(result.Read(), std::nullopt);
  TellResult(Path(result, "0"), 75);
  EXPECT_EQ(result.Read(), 75);
}

TEST(JobResult, TheFileIsDeletedAndNeverCreatedElsewhere) {
  std::string path;
  {
    const JobResult result;
    path = Path(result, "0");
  }
  struct stat found;
  EXPECT_NE(stat(path.c_str(), &found), 0);
  // The result file `path` does not exist any more, as if this process ran on
  // another machine than `launch --slurm`. TellResult must not create it.
  TellResult(path, 1);
  EXPECT_NE(stat(path.c_str(), &found), 0);
}

}  // namespace
}  // namespace muster::launcher
