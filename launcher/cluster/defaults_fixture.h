#ifndef MUSTER_LAUNCHER_CLUSTER_DEFAULTS_FIXTURE_H_
#define MUSTER_LAUNCHER_CLUSTER_DEFAULTS_FIXTURE_H_

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/options/defaults.h"
#include "launcher/options/flag_values.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {

// For the tests of one cluster's defaults: what launch reads of a command line
// where the cluster around it says `defaults` of an environment.
class DefaultsFixture : public ::testing::Test {
 protected:
  using Environment = std::map<std::string, std::string>;
  using ClusterSays = absl::StatusOr<Defaults> (*)(const FlagValues&,
                                                   const Environment&);

  explicit DefaultsFixture(ClusterSays defaults) : defaults_(defaults) {}

  // Of "launch ARGS train.py".
  absl::StatusOr<ParsedOptions> Parse(const Environment& environment,
                                      std::vector<std::string> args = {}) const;

  // The test fails where they are refused.
  RunOptions Options(const Environment& environment,
                     const std::vector<std::string>& args = {}) const;

  // Why they are refused; empty if they are not.
  std::string Refusal(const Environment& environment,
                      const std::vector<std::string>& args = {}) const;

 private:
  const ClusterSays defaults_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CLUSTER_DEFAULTS_FIXTURE_H_
