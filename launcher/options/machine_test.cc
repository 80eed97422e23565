#include "launcher/options/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "base/environment_value.h"

namespace muster::launcher {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

TEST(ReadMachine, Facts) {
  const MachineFacts facts =
      ReadMachineFacts({{"PATH", "/usr/bin:/bin"}, {"TMPDIR", "/var/tmp"}});
  EXPECT_THAT(facts.host_name, Not(IsEmpty()));
  EXPECT_GE(facts.cores, 1);
  EXPECT_LE(facts.cores, sysconf(_SC_NPROCESSORS_CONF));
  EXPECT_EQ(facts.pid, getpid());
  EXPECT_THAT(facts.uuid, MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-"
                                       "[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_THAT(facts.working_directory, StartsWith("/"));
  EXPECT_THAT(facts.temporary_directory, StartsWith("/var/tmp/muster_"));
  EXPECT_THAT(facts.addresses, IsEmpty()) << "read only where needed";
  EXPECT_EQ(facts.loopback, "127.0.0.1");
  EXPECT_EQ(facts.environment.at("TMPDIR"), "/var/tmp");
}

TEST(ReadMachine, EachStartIsAnother) {
  const MachineFacts one = ReadMachineFacts({});
  const MachineFacts other = ReadMachineFacts({});
  EXPECT_NE(one.incarnation, other.incarnation);
  EXPECT_NE(one.uuid, other.uuid);
  EXPECT_NE(one.place_key, other.place_key);
  EXPECT_NE(one.place_key, one.uuid);
  EXPECT_NE(one.temporary_directory, other.temporary_directory);
  const MachineFacts nowhere = ReadMachineFacts({{"PATH", "/nonexistent"}});
  EXPECT_THAT(nowhere.python, IsEmpty());
}

TEST(ReadMachine, Addresses) {
  MachineFacts facts = ReadMachineFacts({});
  ReadAddresses(facts);
  EXPECT_THAT(facts.addresses, Contains("127.0.0.1"));
}

TEST(ReadMachine, TheEnvironmentKeepsEqualsSigns) {
  ASSERT_EQ(setenv("MUSTER_TEST_VARIABLE", "a=b=c", 1), 0);
  EXPECT_EQ(ReadEnvironment().at("MUSTER_TEST_VARIABLE"), "a=b=c");
}

TEST(ReadMachine, GpusAreCountedOnlyWhereTheyAreNeeded) {
  MachineFacts facts = ReadMachineFacts({{"CUDA_VISIBLE_DEVICES", ""}});
  facts.gpus = {"untouched"};
  RunOptions options;
  EXPECT_TRUE(ReadGpuFacts(options, facts).ok());
  EXPECT_THAT(facts.gpus, Contains("untouched"));
  options.workers_per_node = "auto";
  EXPECT_TRUE(ReadGpuFacts(options, facts).ok());
  EXPECT_THAT(facts.gpus, IsEmpty()) << "an empty variable hides all";
}

}  // namespace
}  // namespace muster::launcher
