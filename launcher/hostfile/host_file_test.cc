#include "launcher/hostfile/host_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace muster::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Parses the host file `text`. Returns "name" or "name*slots" for each host, or
// the error.
std::string Read(std::string_view text) {
  const absl::StatusOr<std::vector<Host>> hosts = ParseHostFile(text);
  if (!hosts.ok()) return std::string(hosts.status().message());
  std::string shown;
  for (const Host& host : *hosts) {
    absl::StrAppend(&shown, shown.empty() ? "" : " ", host.Destination());
    if (host.slots) absl::StrAppend(&shown, "*", *host.slots);
  }
  return shown;
}

TEST(HostFile, ReadsDeepSpeedsFormat) {
  EXPECT_EQ(Read("worker-0 slots=4\nworker-1 slots=2\n"),
            "worker-0*4 worker-1*2");
}

TEST(HostFile, ReadsOpenMpisFormat) {
  EXPECT_EQ(Read("a slots=2 max_slots=4\nb slots = 3\tmax-slots=3\nc\n"),
            "a*2 b*3 c");
  EXPECT_EQ(Read("a user=me slots=1\nb count=2"), "me@a*1 b*2");
}

TEST(HostFile, SlotsOfRepeatedHostsAreAdded) {
  EXPECT_EQ(Read("a\nb slots=2\na\nb slots=3\n"), "a*2 b*5");
  EXPECT_EQ(Read("a slots=2 max_slots=3\na slots=2\n"),
            "line 2: 'a' has 4 slots in all, but max_slots=3");
}

TEST(HostFile, ReadsMpichsFormat) {
  EXPECT_EQ(Read("a:4\nme@b:2\nc:1 # the last\n"), "a*4 me@b*2 c*1");
}

TEST(HostFile, ReadsAddressesAndUsers) {
  EXPECT_EQ(Read("10.0.0.1:2\nfe80::1\n[fe80::2]:3\n[::1]\nu@[::2] slots=1"),
            "10.0.0.1*2 fe80::1 fe80::2*3 ::1 u@::2*1");
}

TEST(HostFile, CommentsBlankLinesAndCarriageReturnsAreSkipped) {
  EXPECT_EQ(Read("# all\r\n\r\n  a slots=1  # one\r\n\t\nb"), "a*1 b");
}

TEST(HostFile, AByteOrderMarkIsSkipped) {
  EXPECT_EQ(Read("\xef\xbb\xbf"
                 "a slots=1\nb"),
            "a*1 b");
  EXPECT_EQ(Read("\xef\xbb\xbf"
                 "# all\na"),
            "a");
  EXPECT_THAT(Read("a\n\xef\xbb\xbf"
                   "b"),
              StartsWith("line 2: "));
}

TEST(HostFile, ErrorsNameTheLineAndSayWhatToWrite) {
  EXPECT_EQ(Read("a\nb slots=x\n"),
            "line 2: 'x' is not a number of slots; write 1 to 4096");
  EXPECT_EQ(Read("a slots=0"),
            "line 1: '0' is not a number of slots; write 1 to 4096");
  EXPECT_EQ(Read("a gpus=1"),
            "line 1: unknown word 'gpus=1' after the host; write slots=N or "
            "leave it out");
  EXPECT_THAT(Read("a 4"), StartsWith("line 1: unknown word '4'"));
  EXPECT_THAT(Read("a slots=1 slots=2"), StartsWith("line 1: two numbers"));
  EXPECT_THAT(Read("a:1 slots=2"), StartsWith("line 1: two numbers"));
  EXPECT_THAT(Read("u@a\nv@a"), HasSubstr("another user"));
  EXPECT_THAT(Read("[::1"), StartsWith("line 1: '[::1' is no address"));
  EXPECT_THAT(Read("a:"), StartsWith("line 1: '' is not a number of slots"));
  EXPECT_THAT(Read("# nobody\n"), StartsWith("names no host"));
  EXPECT_THAT(Read("a slots=4000\na slots=97"),
              StartsWith("line 2: 'a' has 4097 slots"));
}

TEST(HostFile, NamesThatAreSshOptionsAreRejected) {
  EXPECT_THAT(Read("-oProxyCommand=x"), StartsWith("line 1: "));
  EXPECT_THAT(Read("-v@a"), StartsWith("line 1: "));
  EXPECT_THAT(Read("a;b"), StartsWith("line 1: "));
  EXPECT_THAT(Read("$(a)"), StartsWith("line 1: "));
  EXPECT_THAT(Read("\x1b[2J"), StartsWith("line 1: '?[2J'"));
  EXPECT_FALSE(IsHostName(std::string(256, 'a')));
  EXPECT_TRUE(IsHostName(std::string(255, 'a')));
}

TEST(HostFile, TooLongFilesAreRejected) {
  EXPECT_THAT(Read(std::string(kMaxHostFileBytes + 1, '#')),
              StartsWith("is longer than 8 MiB"));
}

using ::testing::HasSubstr;

constexpr char kHosts[] =
    "worker-0 slots=4\nworker-1 slots=4\nplain\n::1 slots=2\n";

// Applies --include or --exclude to kHosts. Returns "name" or "name:slots" for
// each host that remains, or the error.
std::string Filter(const std::string& include, const std::string& exclude) {
  const absl::StatusOr<std::vector<Host>> hosts =
      FilterHosts(*ParseHostFile(kHosts), include, exclude);
  if (!hosts.ok()) return std::string(hosts.status().message());
  std::string shown;
  for (const Host& host : *hosts) {
    absl::StrAppend(&shown, shown.empty() ? "" : " ", host.name);
    for (size_t i = 0; i < host.chosen_slots.size(); ++i) {
      absl::StrAppend(&shown, i == 0 ? ":" : ",", host.chosen_slots[i]);
    }
  }
  return shown;
}

TEST(HostFilter, WithoutFilterAllHostsStay) {
  EXPECT_EQ(Filter("", ""), "worker-0 worker-1 plain ::1");
}

TEST(HostFilter, IncludeKeepsHostsAndSlots) {
  EXPECT_EQ(Filter("worker-0@worker-1:0,2", ""), "worker-0 worker-1:0,2");
  EXPECT_EQ(Filter("plain:7@[::1]:1", ""), "plain:7 ::1:1");
}

TEST(HostFilter, HostsKeepTheFilesOrder) {
  EXPECT_EQ(Filter("worker-1@worker-0", ""), "worker-0 worker-1");
}

TEST(HostFilter, RepeatedSlotsCountOnceAndTheLastEntryWins) {
  EXPECT_EQ(Filter("worker-0:1,1,0", ""), "worker-0:1,0");
  EXPECT_EQ(Filter("worker-0:1@worker-0:2", ""), "worker-0:2");
}

TEST(HostFilter, ExcludeRemovesHostsAndSlots) {
  EXPECT_EQ(Filter("", "worker-1:0@plain"), "worker-0 worker-1:1,2,3 ::1");
  EXPECT_EQ(Filter("", "worker-1:0@worker-1:3@plain@::1"),
            "worker-0 worker-1:1,2");
  EXPECT_EQ(Filter("", "worker-0:0,1,2,3@plain@::1"), "worker-1");
  EXPECT_EQ(Filter("", "worker-0:1@worker-0@plain@::1"), "worker-1");
}

TEST(HostFilter, ErrorsNameTheFlag) {
  EXPECT_EQ(Filter("worker-0", "worker-1"),
            "--include: does not go with --exclude; give one of the two");
  EXPECT_EQ(Filter("worker-7", ""),
            "--include=worker-7: the host file has no host worker-7");
  EXPECT_EQ(Filter("", "worker-0:4"),
            "--exclude=worker-0:4: worker-0 has no slot 4: it has 0 to 3");
  EXPECT_EQ(Filter("worker-0:a", ""),
            "--include=worker-0:a: 'a' is not a slot; write for example 0,2");
  EXPECT_THAT(Filter("worker-0:", ""), HasSubstr("'' is not a slot"));
  EXPECT_THAT(Filter("worker-0@", ""), HasSubstr("'' names no host"));
  EXPECT_THAT(Filter("[", ""), HasSubstr("names no host"));
  EXPECT_THAT(Filter("", "plain:0"), HasSubstr("no number of slots"));
  EXPECT_THAT(Filter("", "worker-0@worker-1@plain@::1"),
              HasSubstr("leaves no host"));
}

}  // namespace
}  // namespace muster::launcher
