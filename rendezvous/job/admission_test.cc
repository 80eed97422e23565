#include "rendezvous/job/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

Report Sound() {
  Report report;
  report.run_id = "train";
  report.node.node_id = "a";
  report.node.host = "a.example";
  report.node.address = "10.0.0.1";
  return report;
}

TEST(Admission, TakesASoundReport) {
  EXPECT_EQ(Unsound(Sound()), std::nullopt);
  EXPECT_EQ(Incompatible(Sound().spec, Sound()), std::nullopt);
}

TEST(Admission, NamesTheVersions) {
  Report report = Sound();
  report.protocol_version = 99;
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("protocol version 99")));
}

TEST(Admission, RefusesEmptyOverlongAndUnprintableNames) {
  Report report = Sound();
  report.node.node_id.clear();
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("the node id is empty")));
  report = Sound();
  report.run_id = std::string(257, 'x');
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("run id has 257 bytes")));
  report = Sound();
  report.node.host = "a\nb";
  EXPECT_THAT(Unsound(report),
              Optional(HasSubstr("host name holds a control")));
  report = Sound();
  report.node.address = "a\x7f";
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("address holds a control")));
  report = Sound();
  report.node.role.clear();
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("the role is empty")));
}

TEST(Admission, BoundsTheNumbers) {
  Report report = Sound();
  report.node.slots = 0;
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("0 workers")));
  report.node.slots = kMaxSlots + 1;
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("16385 workers")));
  report = Sound();
  report.node.topology.resize(17);
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("17 topology keys")));
  report = Sound();
  report.node.gpus.resize(kMaxGpuNames + 1);
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("257 names of GPUs")));
  report = Sound();
  report.addresses.resize(kMaxNodeAddresses + 1);
  EXPECT_EQ(Unsound(report), std::nullopt);
  report.addresses.resize(kMaxNodeAddresses + 2);
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("18 addresses")));
  report = Sound();
  report.round = -1;
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("round -1")));
  report = Sound();
  report.offered_master_port = 65536;
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("port is 65536")));
}

TEST(Admission, AnElectorateIsOneOfTheJobsNodes) {
  Report report = Sound();
  report.spec.min_nodes = report.spec.max_nodes = 4;
  report.electorate = {.epoch = 1, .nodes = 4, .rank = 3};
  EXPECT_EQ(Unsound(report), std::nullopt);
  report.electorate.rank = -1;
  EXPECT_EQ(Unsound(report), std::nullopt);
  report.electorate = {.epoch = 1, .nodes = 2, .rank = 1, .members = {"a", ""}};
  EXPECT_EQ(Unsound(report), std::nullopt);
  for (const Electorate& bad :
       {Electorate{.nodes = 5, .rank = 0}, Electorate{.nodes = -1},
        Electorate{.nodes = 4, .rank = 4}, Electorate{.nodes = 4, .rank = -2},
        Electorate{.nodes = 0, .rank = 0}}) {
    report.electorate = bad;
    EXPECT_THAT(Unsound(report), Optional(HasSubstr("in an electorate of")))
        << bad.rank << " of " << bad.nodes;
  }
  report.electorate = {.nodes = 2, .members = {"a", "b", "c"}};
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("of 2 nodes lists 3")));
  report.spec.min_nodes = report.spec.max_nodes = 9;
  report.electorate = {.nodes = 9, .members = std::vector<std::string>(9)};
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("of 9 nodes lists 9")));
}

TEST(Admission, APlaceAgreesWithTheSizeOfItsWorld) {
  Report report = Sound();
  report.spec.min_nodes = report.spec.max_nodes = 2;
  report.round = 1;
  report.place = Place{.round = 1,
                       .group_world_size = 2,
                       .world_size = 2 * report.node.slots,
                       .members = {"a", "b"}};
  EXPECT_EQ(Unsound(report), std::nullopt);
  report.place->members = {"a"};
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("of 2 nodes lists 1")));
  report.place->members.clear();
  report.place->electors = 2;
  EXPECT_EQ(Unsound(report), std::nullopt);
  for (const int bad : {-1, 3}) {
    report.place->electors = bad;
    EXPECT_THAT(Unsound(report), Optional(HasSubstr("electors in a world of")));
  }
}

TEST(Admission, ProgressIsThatOfTheNodesOwnWorkers) {
  Report report = Sound();
  report.node.slots = 2;
  report.times.resize(2);
  report.times[1].local_rank = 1;
  EXPECT_EQ(Unsound(report), std::nullopt);
  report.times[1].local_rank = 2;
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("times of local rank 2")));
  report.times[1].local_rank = -1;
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("times of local rank -1")));
  report.times.assign(3, RankTimes());
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("times of 3 workers")));
  report.times.clear();
  report.progress.resize(2);
  report.progress[1].local_rank = 1;
  EXPECT_EQ(Unsound(report), std::nullopt);
  report.progress[1].local_rank = 2;
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("local rank 2")));
  report.progress[1].local_rank = -1;
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("local rank -1")));
  report.progress.assign(3, WorkerProgress());
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("3 workers")));
}

TEST(Admission, ARoundThatNoCoordinatorCanHaveBegunIsImpossible) {
  Report report = Sound();
  report.round = kMaxClaimedRound;
  EXPECT_EQ(ImpossibleRound(report, 0), std::nullopt);
  report.round = kMaxClaimedRound + 1;
  EXPECT_THAT(ImpossibleRound(report, 3), Optional(HasSubstr("round 1000001")));
  EXPECT_THAT(ImpossibleRound(report, 3),
              Optional(HasSubstr("newest round is 3")));
  EXPECT_EQ(ImpossibleRound(report, kMaxClaimedRound + 1), std::nullopt);
  report.electorate.world.round = kMaxClaimedRound + 2;
  EXPECT_NE(ImpossibleRound(report, kMaxClaimedRound + 1), std::nullopt);
  report.electorate.world.round = 0;
  report.round = kMaxClaimedRound + 2;
  EXPECT_NE(ImpossibleRound(report, kMaxClaimedRound + 1), std::nullopt);
}

TEST(Admission, AStreamSpeaksForOneAgentOfOneNodeOfOneJob) {
  const Report report = Sound();
  const StreamOwner owner = OwnerOf(report);
  EXPECT_EQ(ForeignReport(owner, report), std::nullopt);
  Report other = report;
  other.run_id = "another";
  EXPECT_THAT(ForeignReport(owner, other), Optional(HasSubstr("one job")));
  other = report;
  other.node.node_id = "another";
  EXPECT_THAT(ForeignReport(owner, other), Optional(HasSubstr("one node")));
  other = report;
  ++other.node.incarnation;
  EXPECT_THAT(ForeignReport(owner, other), Optional(HasSubstr("one agent")));
}

TEST(Admission, APlaceKeyIsShownWholeOrNotAtAll) {
  Report report = Sound();
  report.place_key = "key";
  EXPECT_TRUE(ShowsPlaceKey(report, "key"));
  EXPECT_TRUE(ShowsPlaceKey(report, ""));
  EXPECT_FALSE(ShowsPlaceKey(report, "keys"));
  report.place_key = "";
  EXPECT_FALSE(ShowsPlaceKey(report, "key"));
  EXPECT_TRUE(ShowsPlaceKey(report, ""));
}

TEST(Admission, RefusesAnInvalidSpec) {
  Report report = Sound();
  report.spec.min_nodes = 3;
  EXPECT_THAT(Unsound(report), Optional(HasSubstr("least number of nodes")));
}

TEST(Admission, NodeRankMustBeOneThatTheWorldCanHave) {
  JobSpec spec;
  spec.max_nodes = 4;
  Report report = Sound();
  report.spec = spec;
  report.node.node_rank = 3;
  EXPECT_EQ(Incompatible(spec, report), std::nullopt);
  report.node.node_rank = 4;
  EXPECT_THAT(Incompatible(spec, report)->told, HasSubstr("allows 0 to 3"));
  EXPECT_FALSE(Incompatible(spec, report)->another_job);
  report.node.node_rank = -1;
  EXPECT_THAT(Incompatible(spec, report)->told, HasSubstr("node rank -1"));
}

TEST(Admission, OtherNnodesAreRefused) {
  JobSpec spec;
  spec.max_nodes = 4;
  Report report = Sound();
  EXPECT_THAT(Incompatible(spec, report)->told, HasSubstr("--nnodes=1:4"));
}

}  // namespace
}  // namespace muster::rendezvous
