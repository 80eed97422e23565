#include "rendezvous/job/constituency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::rendezvous {
namespace {

constexpr uint64_t kElected = uint64_t{5} << kDrawnEpochBits;
constexpr WorldId kOld{.epoch = kElected, .round = 2};
constexpr WorldId kNew{.epoch = kElected, .round = 3};

Report From(const std::string& id) {
  Report report;
  report.node.node_id = id;
  report.node.incarnation = 1;
  return report;
}

// A report of a node that is an elector: its electorate is the world kOld,
// which has four nodes.
Report Elector(const std::string& id, int rank) {
  Report report = From(id);
  report.electorate = {
      .epoch = kElected, .world = kOld, .nodes = 4, .rank = rank};
  return report;
}

Place PlaceIn(const WorldId& world, int rank) {
  Place place;
  place.epoch = world.epoch;
  place.round = world.round;
  place.group_rank = rank;
  place.group_world_size = 4;
  return place;
}

std::vector<const Report*> All(const std::vector<Report>& reports) {
  std::vector<const Report*> all;
  for (const Report& report : reports) all.push_back(&report);
  return all;
}

TEST(Constituency, AMajorityNeedsHalfThatRemember) {
  const auto has_majority = [](int nodes, int voters, int returned) {
    return Constituency{.nodes = nodes, .voters = voters, .returned = returned}
        .has_majority();
  };
  EXPECT_FALSE(has_majority(4, 2, 0));
  EXPECT_TRUE(has_majority(4, 3, 0));
  EXPECT_TRUE(has_majority(4, 2, 1));
  EXPECT_FALSE(has_majority(4, 1, 3));
}

TEST(Constituency, NodesOfOneRankAreOneVoter) {
  const std::vector<Report> reports = {Elector("a", 0), Elector("b", 1),
                                       Elector("c", 1)};
  const auto found = ConstituenciesOf(All(reports), All(reports));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].world, kOld);
  EXPECT_EQ(found[0].voters, 2);
  EXPECT_FALSE(found[0].has_majority());
}

TEST(Constituency, ALaterWorldThatMayHaveBegunNeedsItsMajority) {
  std::vector<Report> reports = {Elector("a", 0), Elector("b", 1)};
  reports[1].place = PlaceIn(kNew, 0);
  const auto found = ConstituenciesOf(All(reports), {});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].world, kNew);
  EXPECT_EQ(found[1].nodes, 4);
}

TEST(Constituency, AWorldThatAVotingMemberDoesNotKnowNeedsNone) {
  std::vector<Report> reports = {Elector("a", 0), Elector("b", 1)};
  reports[1].place = PlaceIn(kNew, 0);
  reports[1].place->members = {"b", "a", "c", "d"};
  reports[1].place->incarnations = {1, 1, 1, 1};
  EXPECT_EQ(ConstituenciesOf(All(reports), All(reports)).size(), 1u);
}

TEST(Constituency, AnOlderWorldIsVoid) {
  const Electorate newest{.epoch = kElected, .world = kOld, .nodes = 4};
  EXPECT_FALSE(IsVoid(PlaceIn(kOld, 0), newest));
  EXPECT_FALSE(IsVoid(PlaceIn(kNew, 0), newest));
  EXPECT_TRUE(IsVoid(PlaceIn({.epoch = kElected, .round = 1}, 0), newest));
  const Electorate sent_by_newer{
      .epoch = kElected + 1, .world = kOld, .nodes = 4};
  EXPECT_TRUE(IsVoid(PlaceIn(kNew, 0), sent_by_newer));
}

TEST(Constituency, TheElectorateOfTheNewestCoordinatorCounts) {
  std::vector<Report> reports = {Elector("a", 0), Elector("b", 1), From("c")};
  reports[1].electorate.epoch = kElected + 1;
  reports[1].electorate.nodes = 3;
  EXPECT_EQ(NewestElectorate(All(reports)).nodes, 3);
  EXPECT_EQ(NewestElectorate({&reports[2]}).nodes, 0);
}

TEST(Constituency, AnUnawareElectorShowsThatAWorldCannotBegin) {
  EXPECT_FALSE(IsMemberUnaware(0, 4, 3)) << "none is unaware";
  EXPECT_FALSE(IsMemberUnaware(1, 3, 4)) << "it may be the one outside";
  EXPECT_TRUE(IsMemberUnaware(2, 3, 4));
}

TEST(Constituency, OnlyElectorsThatTheNewerWorldListsAreCandidates) {
  EXPECT_EQ(CandidatesOf(3, {"a", "b", "c"}, {"c", "d", "a"}), 2);
  EXPECT_EQ(CandidatesOf(3, {"a", "", "c"}, {"c", "d", "a"}), 3);
  EXPECT_EQ(CandidatesOf(3, {"a", "b", "c"}, {}), 3);
}

TEST(Constituency, OthersAreTooFewOnlyBelowHalfOfMinNodes) {
  JobSpec spec;
  spec.takeover = Takeover::kAuto;
  spec.min_nodes = 3;
  spec.max_nodes = 6;
  EXPECT_EQ(MaxElsewhere(spec), 1);
  EXPECT_TRUE(OthersAreTooFew(spec, 5, {}));
  EXPECT_FALSE(OthersAreTooFew(spec, 4, {}));
  const std::vector<Constituency> small = {{.nodes = 2}};
  EXPECT_FALSE(OthersAreTooFew(spec, 5, small)) << "one is half of it";
  EXPECT_TRUE(OthersAreTooFew(spec, 5, {{.nodes = 2, .voters = 2}}));
  spec.takeover = Takeover::kMajority;
  EXPECT_FALSE(OthersAreTooFew(spec, 6, {}));
}

TEST(Constituency, ASpareWithAPlaceIsNone) {
  Report report = From("a");
  EXPECT_FALSE(IsSpare(report));
  report.electorate.is_spare = true;
  EXPECT_TRUE(IsSpare(report));
  report.place = PlaceIn(kOld, 0);
  EXPECT_FALSE(IsSpare(report));
}

}  // namespace
}  // namespace muster::rendezvous
