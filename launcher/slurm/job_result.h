#ifndef MUSTER_LAUNCHER_SLURM_JOB_RESULT_H_
#define MUSTER_LAUNCHER_SLURM_JOB_RESULT_H_

#include <optional>
#include <string>

namespace muster::launcher {

// Where the `launch` of a step's task 0, which has the job's exit code, tells
// it to the `launch --slurm` that started the step: a file of this machine.
// srun's own code is another one as soon as a node was lost, also where the job
// went on without it. Where the two are on different machines nothing is told.
class JobResult {
 public:
  JobResult();
  ~JobResult();

  JobResult(const JobResult&) = delete;
  JobResult& operator=(const JobResult&) = delete;

  // "NAME=PATH" for the step's environment; empty: there is no file.
  std::string Variable() const;

  // What was told.
  std::optional<int> Read() const;

 private:
  std::string path_;
};

// Takes the file's path out of this process's environment, so that workers do
// not find it; empty: nobody wants to know. Call while there is one thread.
std::string TakeResultPath();

// Tells `exit_code` at `path`, if that is not empty and this is task 0.
void TellResult(const std::string& path, int exit_code);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SLURM_JOB_RESULT_H_
