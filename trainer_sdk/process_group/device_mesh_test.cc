#include "trainer_sdk/process_group/device_mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster {
namespace {

using testing::ElementsAre;

TEST(DeviceMeshTest, TheLastDimensionVariesFastest) {
  const std::vector<MeshDimension> mesh = {{"dp", 2}, {"pp", 3}, {"tp", 2}};
  EXPECT_THAT(MeshCoordinates(mesh, 0), ElementsAre(0, 0, 0));
  EXPECT_THAT(MeshCoordinates(mesh, 1), ElementsAre(0, 0, 1));
  EXPECT_THAT(MeshCoordinates(mesh, 11), ElementsAre(1, 2, 1));
}

TEST(DeviceMeshTest, RefusesWhatIsNoMesh) {
  EXPECT_TRUE(CheckMesh({{"dp", 2}, {"pp", 3}}, 6).ok());
  EXPECT_EQ(CheckMesh({{"dp", 2}, {"pp", 2}}, 6).message(),
            "a mesh of dp=2 x pp=2 does not make up a group of 6");
  EXPECT_FALSE(CheckMesh({{"dp", 6}, {"dp", 1}}, 6).ok());
  EXPECT_FALSE(CheckMesh({{"", 6}}, 6).ok());
  EXPECT_FALSE(CheckMesh({{"dp", 0}}, 6).ok());
  EXPECT_FALSE(CheckMesh({{"dp", -6}, {"pp", -1}}, 6).ok());
  EXPECT_FALSE(CheckMesh({}, 1).ok());
}

TEST(DeviceMeshTest, HasAGroupForEachDimension) {
  EXPECT_EQ(FirstFailure(RunWorld(
                6,
                [](ProcessGroup& world) -> absl::Status {
                  auto mesh = DeviceMesh::Create(world, {{"dp", 2}, {"pp", 3}});
                  if (!mesh.ok()) return mesh.status();
                  const int dp = world.rank() / 3, pp = world.rank() % 3;
                  EXPECT_EQ((*mesh)->coordinate("dp"), dp);
                  EXPECT_EQ((*mesh)->coordinate("pp"), pp);
                  EXPECT_EQ((*mesh)->size("pp"), 3);
                  EXPECT_EQ((*mesh)->group("dp").rank(), dp);
                  EXPECT_THAT((*mesh)->group("dp").global_ranks(),
                              ElementsAre(pp, pp + 3));
                  EXPECT_THAT((*mesh)->group("pp").global_ranks(),
                              ElementsAre(3 * dp, 3 * dp + 1, 3 * dp + 2));
                  float sum = static_cast<float>(world.rank());
                  const absl::Status status = (*mesh)->group("pp").Run(
                      AllReduce(&sum, &sum, 1, DType::kFloat32));
                  EXPECT_EQ(sum, dp == 0 ? 3 : 12);
                  return status;
                })),
            absl::OkStatus());
}

TEST(DeviceMeshDeathTest, AnUnknownDimensionIsNamedWithTheKnownOnes) {
  EXPECT_EQ(FirstFailure(RunWorld(
                1,
                [](ProcessGroup& world) -> absl::Status {
                  auto mesh = DeviceMesh::Create(world, {{"dp", 1}, {"pp", 1}});
                  if (!mesh.ok()) return mesh.status();
                  EXPECT_DEATH((*mesh)->group("typo"),
                               "'typo'; this mesh has: dp, pp");
                  return absl::OkStatus();
                })),
            absl::OkStatus());
}

}  // namespace
}  // namespace muster
