#include "launcher/inspect_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace muster::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

FlightAnalysis Found() {
  FlightAnalysis analysis;
  analysis.world_size = 4;
  analysis.groups = 2;
  analysis.findings = {
      "rank 1 (node1, pid 101) is behind: it did not call barrier #2 in group "
      "world, where ranks 0, 2-3 wait"};
  analysis.positions = {
      {"ranks 0, 2-3", "barrier #2", "world", "in it for 0.5 s"},
      {"rank 1", "", "", "called nothing"}};
  analysis.reasons = {
      {"ranks 0, 2-3", "group world: barrier #2: rank 1 is late"}};
  return analysis;
}

TEST(InspectText, ShowsWhatWasFoundWhereRanksStoodAndWhatTheySaid) {
  EXPECT_EQ(InspectText(Found(), 4, {}),
            R"(Flight recorders of 4 of 4 ranks, 2 groups

 FOUND  rank 1 (node1, pid 101) is behind: it did not call barrier #2 in group
        world, where ranks 0, 2-3 wait

 RANKS   LAST OPERATION  GROUP  STATE
 0, 2-3  barrier #2      world  in it for 0.5 s
 1       -               -      called nothing

 ranks 0, 2-3 said:  group world: barrier #2: rank 1 is late
)");
}

TEST(InspectText, SaysWhoWasOnlyStopped) {
  FlightAnalysis analysis = Found();
  analysis.stopped = "ranks 0, 2-3";
  EXPECT_THAT(InspectText(analysis, 4, {}),
              HasSubstr("\n THEN   ranks 0, 2-3 were stopped by Muster, as the "
                        "round was broken\n"));
  analysis.stopped = "rank 0";
  EXPECT_THAT(InspectText(analysis, 4, {}), HasSubstr("rank 0 was stopped"));
}

TEST(InspectText, SaysWhereAllIsFine) {
  FlightAnalysis analysis = Found();
  analysis.findings.clear();
  const std::string text = InspectText(analysis, 4, {});
  EXPECT_THAT(text, HasSubstr(" FINE  All ranks called the same"));
  EXPECT_THAT(text, Not(HasSubstr("FOUND")));
}

TEST(InspectText, SaysHowLongRanksWaitThatAllMove) {
  FlightAnalysis analysis = Found();
  analysis.findings.clear();
  analysis.longest_wait = 0.0111;
  EXPECT_THAT(InspectText(analysis, 4, {}),
              HasSubstr(" FINE  All move: no rank has waited for longer than "
                        "12 ms.\n"));
  analysis.longest_wait = 1e300;
  EXPECT_THAT(InspectText(analysis, 4, {}), HasSubstr(" 1000000000000 ms."));
}

TEST(InspectText, IsBoundedAndPrintable) {
  FlightAnalysis analysis = Found();
  analysis.reasons[0].second = "evil \x1b[31m\n\ntext";
  for (int i = 0; i < 1000; i++) {
    analysis.positions.push_back({"rank 4", std::to_string(i), "g", "done"});
    analysis.reasons.emplace_back("rank 4", std::to_string(i));
  }
  const std::string text = InspectText(analysis, 4, {});
  EXPECT_LT(text.size(), 5000u);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("and 962 other places"));
  EXPECT_THAT(text, HasSubstr("and 993 other reasons"));
}

TEST(InspectText, HelpFitsIntoEightyColumns) {
  std::istringstream lines(InspectHelp());
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80u) << line;
  }
}

}  // namespace
}  // namespace muster::launcher
