#include "trainer_sdk/examples/gpt/training_course.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

TEST(TrainingCourseTest, TellsWhatIsAnother) {
  GptTrainingOptions one;
  GptTrainingOptions other = one;
  EXPECT_EQ(CourseDifference(DescribeCourse(one), DescribeCourse(other)), "");
  other.seed = 7;
  other.batch = 5;
  EXPECT_EQ(CourseDifference(DescribeCourse(other), DescribeCourse(one)),
            "batch 5, was 12; seed 7, was 1337");
  EXPECT_THAT(CourseDifference(DescribeCourse(one), ""),
              HasSubstr("seed 1337, was not known"));
}

// Each rank is told who it is; the one that differs also in what.
TEST(TrainingCourseTest, RanksHaveRank0sOptions) {
  for (const int strange : {-1, 0, 2}) {
    const auto statuses = RunWorld(3, [&](ProcessGroup& world) {
      GptTrainingOptions options;
      if (world.rank() == strange) options.model.heads = 2;
      return CheckSameCourse(world, DescribeCourse(options));
    });
    for (int rank = 0; rank < 3; ++rank) {
      const std::string said(statuses[rank].message());
      if (strange == -1) {
        EXPECT_TRUE(statuses[rank].ok()) << said;
      } else if (strange == 0) {
        EXPECT_THAT(said, HasSubstr("rank 1, 2 was started with other"));
      } else {
        EXPECT_THAT(said, HasSubstr("rank 2 was started with other options"));
      }
      if (strange == 2 && rank == 2) {
        EXPECT_THAT(said, HasSubstr(": heads 2, on rank 0 4"));
      }
    }
  }
}

}  // namespace
}  // namespace muster
