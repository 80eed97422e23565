#ifndef MUSTER_LAUNCHER_SLURM_JOB_RESULT_H_
#define MUSTER_LAUNCHER_SLURM_JOB_RESULT_H_

#include <optional>
#include <string>

namespace muster::launcher {

// A file that carries the job's exit code between two processes: from the
// `launch` that runs as task 0 of a Slurm step to the `launch --slurm` that
// started the step. It is needed because srun's own exit code is wrong after
// the loss of a node, even if the job continued without that node. If the two
// processes are on different machines, no exit code is reported.
class JobResult {
 public:
  JobResult();
  ~JobResult();

  JobResult(const JobResult&) = delete;
  JobResult& operator=(const JobResult&) = delete;

  // Returns the variable for the environment of the Slurm step, as "NAME=PATH".
  // Empty: the result file could not be created.
  std::string Variable() const;

  // Returns the exit code that task 0 has reported; nullopt if none was.
  std::optional<int> Read() const;

 private:
  std::string path_;
};

// Returns the path of the result file and removes its variable from this
// process's environment, so that workers do not inherit it. Empty: the variable
// is not set. Must be called while the process has one thread.
std::string TakeResultPath();

// Writes `exit_code` to the file `path` if `path` is not empty and this process
// is task 0 of its Slurm step.
void TellResult(const std::string& path, int exit_code);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SLURM_JOB_RESULT_H_
