#ifndef MUSTER_LAUNCHER_SLURM_SLURM_STEPS_H_
#define MUSTER_LAUNCHER_SLURM_SLURM_STEPS_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::launcher {

// Finds the id, for example "7.0", of the Slurm step with the name `name` in
// the output of `squeue -o %i|%j`. Empty: not found. Pure.
std::string FindStep(const std::string& squeue, const std::string& name);

// Whether `said`, a message of squeue or scancel, means that Slurm no longer
// knows the job or step. In that case Slurm is ending the step, and itself
// signals the step's tasks. Pure.
bool EndsAnyway(const std::string& said);

// Sends a signal to every task of the Slurm job's step `name`, by squeue and
// scancel. Returns the reason of a failure as a sentence. Empty: the signal was
// sent, or Slurm is ending the job and signals the tasks itself. Blocks for at
// most 30 s. (srun cannot be used: it forwards only some signals, and kills the
// tasks at once on SIGTERM.)
std::string SignalStep(const std::string& job_id, const std::string& name,
                       int signal);

// Decides when a signal that could not be sent to a Slurm step is sent again:
// once, after a pause. Pure.
class SignalRetries {
 public:
  static constexpr Duration kPause = std::chrono::seconds(2);

  struct Retry {
    int signal = 0;
    Instant at;  // time at which `signal` is sent again
  };
  // Returns the retry that is due first; nullopt: none is pending. O(n).
  std::optional<Retry> Next() const {
    const auto first = std::ranges::min_element(
        failed_, {}, [](const auto& one) { return one.second; });
    if (first == failed_.end()) return std::nullopt;
    return Retry{.signal = first->first, .at = first->second};
  }

  // Records that the signal was sent. Its pending retry is dropped.
  void Sent(int signal) { failed_.erase(signal); }

  enum class Failure {
    kFirst,  // a retry is pending: the signal is sent again after the pause
    kFinal,  // the retry has failed, and there is no further retry
  };
  // Records that an attempt to send the signal, which lasted from `began` to
  // `ended`, has failed. A failed attempt that began during the pause before
  // the retry (kPause) does not postpone the retry.
  Failure Failed(int signal, Instant began, Instant ended) {
    const auto [failed, is_first] = failed_.try_emplace(signal, ended + kPause);
    if (is_first || began < failed->second) return Failure::kFirst;
    failed_.erase(failed);
    return Failure::kFinal;
  }

 private:
  // Key: a signal that could not be sent. Value: the end of the pause before it
  // is sent again.
  std::map<int, Instant> failed_;
};

// A Slurm job, identified by a number and by a name. The two differ for a task
// of a job array and for a component of a heterogeneous job: each has a job
// number of its own, and a name such as "5_3".
struct SlurmJob {
  uint64_t number = 0;
  std::string name;  // for example "41", "5_3" (array), "7+0" (heterogeneous)
};

// Finds the job with the name or number `asked` in the output of `squeue -o
// %A|%i`. NotFound: the output does not contain the job. Pure.
absl::StatusOr<SlurmJob> FindJob(const std::string& squeue,
                                 const std::string& asked);

// Returns the endpoint of the coordinator of the Slurm job `job`, computed from
// the job's Slurm steps. `squeue`: the output of `squeue --steps -o %i|%j|%N`.
// Uses the step with the lowest number among the steps named "launch" or
// "launch-...". If no step has such a name, uses the step with the lowest
// number of all. `asking`: the number of the step in which this process runs,
// if any; this step is ignored. Steps of other jobs are ignored.
//
// NotFound: there is no such step. Pure.
absl::StatusOr<rendezvous::Endpoint> EndpointOfSteps(
    const std::string& squeue, const SlurmJob& job,
    std::optional<uint64_t> asking);

// The coordinator of a Slurm job.
struct SlurmCoordinator {
  // number of the Slurm job that runs the coordinator (SlurmJob::number)
  uint64_t job = 0;
  rendezvous::Endpoint endpoint;
};

// Runs squeue to find the job `job` (name or number) and its steps. Blocks for
// at most 20 s. Errors: the message is one line that says what to do.
absl::StatusOr<SlurmCoordinator> FindCoordinator(
    const std::string& job, std::optional<uint64_t> asking);

// Returns the command line that runs `command` on the coordinator's host, in a
// new step of the same Slurm job. Pure.
std::vector<std::string> OnHostOf(const SlurmCoordinator& coordinator,
                                  const std::vector<std::string>& command);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SLURM_SLURM_STEPS_H_
