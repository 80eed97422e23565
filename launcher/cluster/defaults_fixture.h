#ifndef MUSTER_LAUNCHER_CLUSTER_DEFAULTS_FIXTURE_H_
#define MUSTER_LAUNCHER_CLUSTER_DEFAULTS_FIXTURE_H_

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/options/command_line.h"
#include "launcher/options/defaults.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {

// Fixture for tests of the flag defaults that a cluster's environment gives.
// Parses command lines of `launch`. The constructor gets the function under
// test, for example SlurmDefaults, which reads the defaults from an
// environment.
class DefaultsFixture : public ::testing::Test {
 protected:
  using Environment = std::map<std::string, std::string>;
  using ClusterSays = absl::StatusOr<Defaults> (*)(const FlagValues&,
                                                   const Environment&);

  explicit DefaultsFixture(ClusterSays defaults) : defaults_(defaults) {}

  // Parses the command line "launch ARGS train.py" in `environment`.
  absl::StatusOr<ParsedOptions> Parse(const Environment& environment,
                                      std::vector<std::string> args = {}) const;

  // Parses the command line "launch ARGS train.py" in `environment`. The test
  // fails if the options are rejected.
  RunOptions Options(const Environment& environment,
                     const std::vector<std::string>& args = {}) const;

  // The error message of Parse; empty if the options are accepted.
  std::string Refusal(const Environment& environment,
                      const std::vector<std::string>& args = {}) const;

 private:
  const ClusterSays defaults_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CLUSTER_DEFAULTS_FIXTURE_H_
