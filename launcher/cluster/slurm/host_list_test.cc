#include "launcher/cluster/slurm/host_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> Hosts(const std::string& text) {
  const auto hosts = ExpandHostList(text);
  EXPECT_TRUE(hosts.ok()) << text << ": " << hosts.status();
  return hosts.ok() ? *hosts : std::vector<std::string>();
}

std::string Refusal(const std::string& text) {
  const auto hosts = ExpandHostList(text);
  EXPECT_FALSE(hosts.ok()) << text;
  return std::string(hosts.status().message());
}

// Expected results are the output of `scontrol show hostnames` of Slurm 22.05.
// tests/slurm compares them with a real Slurm.
TEST(ExpandHostList, ExpandsHostsInSlurmsOrder) {
  EXPECT_THAT(Hosts("n1"), ElementsAre("n1"));
  EXPECT_THAT(Hosts("n[1-3]"), ElementsAre("n1", "n2", "n3"));
  EXPECT_THAT(Hosts("n[1,3-4],login,m7"),
              ElementsAre("n1", "n3", "n4", "login", "m7"));
  EXPECT_THAT(Hosts("n[1-2]x[3-4]"),
              ElementsAre("n1x3", "n1x4", "n2x3", "n2x4"));
  EXPECT_THAT(Hosts("[1-2]"), ElementsAre("1", "2"));
  EXPECT_THAT(Hosts(""), IsEmpty());
}

TEST(ExpandHostList, NumbersArePaddedToTheWidthOfTheFirst) {
  EXPECT_THAT(Hosts("n[09-11]"), ElementsAre("n09", "n10", "n11"));
  EXPECT_THAT(Hosts("n[9-11]"), ElementsAre("n9", "n10", "n11"));
  EXPECT_THAT(Hosts("n[099-100,7]"), ElementsAre("n099", "n100", "n7"));
  EXPECT_THAT(Hosts("n[1-02]"), ElementsAre("n1", "n2"));
}

TEST(ExpandHostList, TextMayFollowABracket) {
  EXPECT_THAT(Hosts("n[1-2]-ib.site,a"),
              ElementsAre("n1-ib.site", "n2-ib.site", "a"));
}

TEST(ExpandHostList, DuplicatesAreKeptAndEmptyEntriesSkipped) {
  EXPECT_THAT(Hosts("n1,,n1,"), ElementsAre("n1", "n1"));
}

TEST(ExpandHostList, ErrorsSayWhatIsWrong) {
  EXPECT_THAT(Refusal("n[1-2"), HasSubstr("'[' without ']'"));
  EXPECT_THAT(Refusal("n1]"), HasSubstr("']' without '['"));
  EXPECT_THAT(Refusal("n[3-1]"), HasSubstr("'3-1' runs down"));
  EXPECT_THAT(Refusal("n[]"), HasSubstr("'' is no range"));
  EXPECT_THAT(Refusal("n[[1-2]]"), HasSubstr("'[1-2' is no range"));
  EXPECT_THAT(Refusal("n[a-b]"), HasSubstr("'a-b' is no range"));
  EXPECT_THAT(Refusal("n[1-2-3]"), HasSubstr("'1-2-3' is no range"));
  EXPECT_THAT(Refusal("n 1"), HasSubstr("a character"));
}

TEST(ExpandHostList, MoreThan65536HostsAreRejected) {
  EXPECT_THAT(Hosts("n[0-65535]"), SizeIs(65536));
  EXPECT_THAT(Refusal("n[0-65536]"), HasSubstr("more than 65536 hosts"));
  EXPECT_THAT(Refusal("n[0-65535],m"), HasSubstr("more than 65536 hosts"));
  EXPECT_THAT(Refusal("n[0-999]x[0-99]"), HasSubstr("more than 65536 hosts"));
  EXPECT_THAT(Refusal("n[1-999999999999999999999]"), HasSubstr("no range"));
  EXPECT_THAT(Refusal("n[18446744073709551615-18446744073709551615]"),
              HasSubstr("no range"));
  EXPECT_THAT(Refusal("n[0-999],n[0-9]" + std::string(300, 'x')),
              HasSubstr("255 characters"));
}

}  // namespace
}  // namespace muster::launcher
