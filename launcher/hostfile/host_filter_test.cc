#include "launcher/hostfile/host_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace muster::launcher {
namespace {

using ::testing::HasSubstr;

constexpr char kHosts[] =
    "worker-0 slots=4\nworker-1 slots=4\nplain\n::1 slots=2\n";

// Returns "name" or "name:slots" for each host, or the error.
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
