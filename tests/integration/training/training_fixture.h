#ifndef MUSTER_TESTS_INTEGRATION_TRAINING_TRAINING_FIXTURE_H_
#define MUSTER_TESTS_INTEGRATION_TRAINING_TRAINING_FIXTURE_H_

#include <gtest/gtest.h>
#include <sys/types.h>

#include <map>
#include <memory>
#include <string>

#include "tests/integration/harness/subprocess.h"

namespace muster {

// Losses by step, as text of JSON numbers, which are exact.
using LossCurve = std::map<int, std::string>;

// A folder with a text, and trainings on it under real launches. What is named
// `name` has checkpoints and a log of its own.
class Training : public ::testing::Test {
 protected:
  Training();
  ~Training() override;

  // A worker that tells its pid, and becomes `command` with the flags of a very
  // small model.
  std::string Worker(const std::string& command, const std::string& name) const;

  // `launch` of so many of them.
  std::unique_ptr<Subprocess> Launch(const std::string& command,
                                     const std::string& name,
                                     int workers) const;

  // The curve in a log. A step that was taken again must have had the same
  // loss each time.
  LossCurve CurveOf(const std::string& name) const;

  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

// Of the worker that `launch` starts in `round`; waits until it has told it: of
// two workers the one that speaks later may be shown first.
pid_t PidOf(Subprocess& launch, int rank, int round);

}  // namespace muster

#endif  // MUSTER_TESTS_INTEGRATION_TRAINING_TRAINING_FIXTURE_H_
