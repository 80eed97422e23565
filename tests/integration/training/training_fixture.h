#ifndef MUSTER_TESTS_INTEGRATION_TRAINING_TRAINING_FIXTURE_H_
#define MUSTER_TESTS_INTEGRATION_TRAINING_TRAINING_FIXTURE_H_

#include <gtest/gtest.h>
#include <sys/types.h>

#include <map>
#include <memory>
#include <string>

#include "tests/integration/harness/subprocess.h"

namespace muster {

// Losses by step. A loss is the exact text of the JSON number in the log.
using LossCurve = std::map<int, std::string>;

// Runs trainings on a text in a temporary folder, with real launches. Each
// training has a `name`, under which it has its checkpoints and its log.
class Training : public ::testing::Test {
 protected:
  Training();
  ~Training() override;

  // Returns the shell command of a worker that prints its pid and then executes
  // `command` with the flags of a very small model.
  std::string Worker(const std::string& command, const std::string& name) const;

  // Starts `launch` with `workers` workers that run Worker(command, name).
  std::unique_ptr<Subprocess> Launch(const std::string& command,
                                     const std::string& name,
                                     int workers) const;

  // Reads the losses from the log of training `name`. Steps that were repeated
  // must have the same loss each time.
  LossCurve CurveOf(const std::string& name) const;

  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

// Returns the pid of the worker with global rank `rank` in `round` (0: before
// the first restart). Waits until the worker has printed it, since the output
// of several workers arrives in any order.
pid_t PidOf(Subprocess& launch, int rank, int round);

}  // namespace muster

#endif  // MUSTER_TESTS_INTEGRATION_TRAINING_TRAINING_FIXTURE_H_
