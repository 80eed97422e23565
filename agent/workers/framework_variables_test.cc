#include "agent/workers/framework_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::agent {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

// The third of the four workers on the second of two nodes.
constexpr WorkerPlace kPlace = {.rank = 6,
                                .world_size = 8,
                                .local_rank = 2,
                                .local_world_size = 4,
                                .node = 1,
                                .nodes = 2};

TEST(FrameworkVariablesTest, WithoutFrameworkEnvsThereAreNone) {
  EXPECT_THAT(FrameworkVariables({}, kPlace), IsEmpty());
}

TEST(FrameworkVariablesTest, OpenMpisAndHydras) {
  EXPECT_THAT(FrameworkVariables({FrameworkEnv::kMpi}, kPlace),
              UnorderedElementsAre(Pair("OMPI_COMM_WORLD_RANK", "6"),
                                   Pair("OMPI_COMM_WORLD_SIZE", "8"),
                                   Pair("OMPI_COMM_WORLD_LOCAL_RANK", "2"),
                                   Pair("OMPI_COMM_WORLD_LOCAL_SIZE", "4"),
                                   Pair("OMPI_COMM_WORLD_NODE_RANK", "2"),
                                   Pair("OMPI_UNIVERSE_SIZE", "8"),
                                   Pair("PMI_RANK", "6"), Pair("PMI_SIZE", "8"),
                                   Pair("MPI_LOCALRANKID", "2"),
                                   Pair("MPI_LOCALNRANKS", "4")));
}

TEST(FrameworkVariablesTest, NothingByWhichMpiLooksForItsLauncher) {
  EXPECT_THAT(
      FrameworkVariables({FrameworkEnv::kMpi}, kPlace),
      Each(Key(AllOf(Not(StartsWith("OMPI_MCA")), Not(StartsWith("PMIX")),
                     Not(HasSubstr("_FD")), Not(HasSubstr("_PORT"))))));
}

TEST(FrameworkVariablesTest, DeepSpeedsNodes) {
  EXPECT_THAT(
      FrameworkVariables({FrameworkEnv::kDeepSpeed}, kPlace),
      UnorderedElementsAre(Pair("CROSS_RANK", "1"), Pair("CROSS_SIZE", "2"),
                           Pair("LOCAL_SIZE", "4")));
}

TEST(FrameworkVariablesTest, SeveralAtOnce) {
  const auto variables = FrameworkVariables(
      {FrameworkEnv::kAccelerate, FrameworkEnv::kMpi}, kPlace);
  EXPECT_THAT(variables, Contains(Pair("PMI_RANK", "6")));
  EXPECT_THAT(variables, Contains(Pair("ACCELERATE_MIXED_PRECISION", "no")));
  EXPECT_THAT(variables, Contains(Pair("ACCELERATE_DYNAMO_BACKEND", "NO")));
}

TEST(FrameworkVariablesTest, TheOnesThatNeedAddressesComeLater) {
  EXPECT_THAT(FrameworkVariables(
                  {FrameworkEnv::kTensorFlow, FrameworkEnv::kJax}, kPlace),
              IsEmpty());
}

}  // namespace
}  // namespace muster::agent
