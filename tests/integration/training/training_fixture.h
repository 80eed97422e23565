#ifndef MUSTER_TESTS_INTEGRATION_TRAINING_TRAINING_FIXTURE_H_
#define MUSTER_TESTS_INTEGRATION_TRAINING_TRAINING_FIXTURE_H_

#include <gtest/gtest.h>
#include <sys/types.h>

#include <map>
#include <memory>
#include <string>

#include "tests/integration/harness/subprocess.h"

namespace muster {

// Losses by step, as the exact text of JSON numbers.
using LossCurve = std::map<int, std::string>;

// A folder with a text, and trainings on it under real launches. Each `name`
// has its own checkpoints and log.
class Training : public ::testing::Test {
 protected:
  Training();
  ~Training() override;

  // Returns a shell command of a worker that prints its pid and then executes
  // `command` with the flags of a very small model.
  std::string Worker(const std::string& command, const std::string& name) const;

  // Starts `launch` with `workers` workers that run Worker(command, name).
  std::unique_ptr<Subprocess> Launch(const std::string& command,
                                     const std::string& name,
                                     int workers) const;

  // Reads the losses from a log. A step that was repeated must have the same
  // loss each time.
  LossCurve CurveOf(const std::string& name) const;

  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

// The pid of the worker that `launch` starts in `round`. Waits until the worker
// has printed it, since the output of several workers comes in any order.
pid_t PidOf(Subprocess& launch, int rank, int round);

}  // namespace muster

#endif  // MUSTER_TESTS_INTEGRATION_TRAINING_TRAINING_FIXTURE_H_
