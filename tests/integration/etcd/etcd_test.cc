// Tests with a real etcd. Several coordinators elect one of them as the leader,
// and the leader keeps the records of its jobs in etcd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rendezvous/etcd/etcd_client.h"
#include "rendezvous/etcd/etcd_records.h"
#include "rendezvous/etcd/leader_election.h"
#include "tests/integration/harness/subprocess.h"

namespace muster::rendezvous {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class EtcdTest : public testing::Test {
 protected:
  explicit EtcdTest(const std::vector<std::string>& flags = {})
      : etcd_(Command(flags)) {}

  static std::vector<std::string> Command(
      const std::vector<std::string>& flags) {
    std::vector<std::string> command = {
        "etcd",
        "--data-dir",
        absl::StrCat(testing::TempDir(), "/", Name()),
        "--listen-client-urls",
        "http://127.0.0.1:0",
        "--advertise-client-urls",
        "http://127.0.0.1:0",
        "--listen-peer-urls",
        "http://127.0.0.1:0"};
    command.insert(command.end(), flags.begin(), flags.end());
    return command;
  }

  void SetUp() override {
    const std::string serving = "client requests on 127.0.0.1:";
    ASSERT_TRUE(etcd_.Printed(serving)) << etcd_.Output();
    const std::string line = etcd_.Lines(serving)[0];
    const std::string port = line.substr(line.find(serving) + serving.size());
    const auto access = ParseEtcdUrl(absl::StrCat(
        "etcd://127.0.0.1:", std::atoi(port.c_str()), "/", Name()));
    ASSERT_TRUE(access.ok()) << access.status();
    client_ = std::make_unique<EtcdClient>(*access);
  }

  static std::string Name() {
    return testing::UnitTest::GetInstance()->current_test_info()->name();
  }

  std::unique_ptr<LeaderElection> Join(const std::string& self) {
    auto election = LeaderElection::Begin(
        client_.get(),
        {.self = self, .limits = {}, .say = [](const std::string&) {}});
    EXPECT_TRUE(election.ok()) << election.status();
    return *std::move(election);
  }

  // Waits until `is_so` returns true, and checks it after each change of
  // `election`. Returns false after kEventTimeout without a change.
  static bool Await(LeaderElection& election,
                    const std::function<bool()>& is_so) {
    while (!is_so()) {
      pollfd changed = {
          .fd = election.changed_fd(), .events = POLLIN, .revents = 0};
      if (poll(&changed, 1, std::chrono::milliseconds(kEventTimeout).count()) !=
          1) {
        return false;
      }
      election.Drain();
    }
    return true;
  }
  static bool Await(LeaderElection& election, LeaderElection::Stage stage) {
    return Await(election, [&] { return election.stage() == stage; });
  }

  std::unique_ptr<EtcdRecords> Open(const EtcdTerm& term) {
    auto records = EtcdRecords::Open(client_.get(), term);
    EXPECT_TRUE(records.ok()) << records.status();
    return *std::move(records);
  }

  Subprocess etcd_;
  std::unique_ptr<EtcdClient> client_;
};

TEST_F(EtcdTest, TheNextTermHasAHigherEpochAndTheRecords) {
  std::unique_ptr<LeaderElection> first = Join("first");
  ASSERT_TRUE(Await(*first, LeaderElection::Stage::kLeading));
  EXPECT_EQ(first->leader(), "");
  std::unique_ptr<LeaderElection> second = Join("second");
  EXPECT_TRUE(Await(*second, [&] { return second->leader() == "first"; }));
  const EtcdTerm term = first->term();
  const std::unique_ptr<EtcdRecords> records = Open(term);
  EXPECT_THAT(records->TakeRecords(), IsEmpty());
  EXPECT_EQ(records->epoch(), term.epoch);
  ASSERT_TRUE(records->Write({{"a", "1"}, {"b", "2"}}).ok());
  ASSERT_TRUE(
      records->Write({{"a", std::string("\0x", 2)}, {"b", std::nullopt}}).ok());
  EXPECT_EQ(second->stage(), LeaderElection::Stage::kStandby);
  first = nullptr;
  ASSERT_TRUE(Await(*second, LeaderElection::Stage::kLeading));
  EXPECT_GT(second->term().epoch, term.epoch);
  EXPECT_THAT(Open(second->term())->TakeRecords(),
              ElementsAre(Pair("a", std::string("\0x", 2))));
}

TEST_F(EtcdTest, AFormerLeaderCannotWrite) {
  std::unique_ptr<LeaderElection> first = Join("first");
  ASSERT_TRUE(Await(*first, LeaderElection::Stage::kLeading));
  const std::unique_ptr<EtcdRecords> former = Open(first->term());
  ASSERT_TRUE(former->Write({{"a", "1"}}).ok());
  first = nullptr;
  const absl::Status nobody = former->Write({{"a", "2"}}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(nobody)) << nobody;
  const std::unique_ptr<LeaderElection> second = Join("second");
  ASSERT_TRUE(Await(*second, LeaderElection::Stage::kLeading));
  const absl::Status late = former->Write({{"a", "3"}}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(late)) << late;
  EXPECT_THAT(std::string(late.message()),
              HasSubstr("another coordinator leads"));
  EXPECT_THAT(Open(second->term())->TakeRecords(), ElementsAre(Pair("a", "1")));
}

// A write has timed out, and reaches etcd after a later write of the same
// leader. Two objects of one term stand for the two writes.
TEST_F(EtcdTest, AWriteThatArrivesLateChangesNothing) {
  const std::unique_ptr<LeaderElection> election = Join("one");
  ASSERT_TRUE(Await(*election, LeaderElection::Stage::kLeading));
  const std::unique_ptr<EtcdRecords> late = Open(election->term());
  const std::unique_ptr<EtcdRecords> records = Open(election->term());
  ASSERT_TRUE(records->Write({{"a", "2"}}).ok());
  const absl::Status refused = late->Write({{"a", "1"}}).status();
  EXPECT_TRUE(absl::IsAborted(refused)) << refused;
  EXPECT_THAT(Open(election->term())->TakeRecords(),
              ElementsAre(Pair("a", "2")));
  // After the refusal, the object reads which write is the newest one.
  ASSERT_TRUE(late->Write({{"a", "3"}}).ok());
  EXPECT_THAT(Open(election->term())->TakeRecords(),
              ElementsAre(Pair("a", "3")));
}

TEST_F(EtcdTest, ManyAndLargeRecordsAreWrittenInPieces) {
  const std::unique_ptr<LeaderElection> election = Join("one");
  ASSERT_TRUE(Await(*election, LeaderElection::Stage::kLeading));
  const std::unique_ptr<EtcdRecords> records = Open(election->term());
  PendingRecords::Batch batch;
  std::map<std::string, std::string> expected;
  for (int i = 0; i < 300; ++i) {
    const std::string record(i % 100 == 0 ? 700'000 : i, 'r');
    batch[absl::StrCat("job", i)] = record;
    expected[absl::StrCat("job", i)] = record;
  }
  const absl::Status written = records->Write(batch).status();
  ASSERT_TRUE(written.ok()) << written;
  EXPECT_EQ(Open(election->term())->TakeRecords(), expected);
}

// A record may exceed one of three limits: etcd's --max-request-bytes; gRPC's
// limit, which is 512 KiB higher; or the limit of EtcdRecords. In each case
// only this record is refused.
TEST_F(EtcdTest, ARecordThatEtcdDoesNotTakeHoldsUpNoOtherRecord) {
  const std::unique_ptr<LeaderElection> election = Join("one");
  ASSERT_TRUE(Await(*election, LeaderElection::Stage::kLeading));
  const std::unique_ptr<EtcdRecords> records = Open(election->term());
  ASSERT_TRUE(records->Write({{"large", "old"}, {"other", "old"}}).ok());
  for (const size_t size : {1'600'000, 2'000'000, 2'500'000, 5'000'000}) {
    const auto written = records->Write({{"a", std::to_string(size)},
                                         {"large", std::string(size, 'r')},
                                         {"z", std::to_string(size)}});
    ASSERT_TRUE(written.ok()) << written.status();
    EXPECT_THAT(*written, ElementsAre(Pair("large", HasSubstr("too large"))));
    EXPECT_THAT(
        Open(election->term())->TakeRecords(),
        ElementsAre(Pair("a", std::to_string(size)), Pair("other", "old"),
                    Pair("z", std::to_string(size))));
  }
  const auto stored = records->Write({{"large", std::string(1'400'000, 'r')}});
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_THAT(*stored, IsEmpty());
}

class SmallEtcdTest : public EtcdTest {
 protected:
  SmallEtcdTest() : EtcdTest({"--max-request-bytes", "100000"}) {}
};

TEST_F(SmallEtcdTest, OnlyTheRecordsBeyondALowerLimitAreRefused) {
  const std::unique_ptr<LeaderElection> election = Join("one");
  ASSERT_TRUE(Await(*election, LeaderElection::Stage::kLeading));
  const std::unique_ptr<EtcdRecords> records = Open(election->term());
  const std::string fits(60'000, 'r');
  const auto written = records->Write(
      {{"a", fits}, {"b", fits}, {"c", std::string(200'000, 'r')}});
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_THAT(*written, ElementsAre(Pair("c", HasSubstr("too large"))));
  EXPECT_THAT(Open(election->term())->TakeRecords(),
              ElementsAre(Pair("a", fits), Pair("b", fits)));
}

TEST_F(EtcdTest, ALeaderWhoseEtcdStandsStillIsOver) {
  const std::unique_ptr<LeaderElection> election = Join("one");
  ASSERT_TRUE(Await(*election, LeaderElection::Stage::kLeading));
  etcd_.Signal(SIGSTOP);
  EXPECT_TRUE(Await(*election, LeaderElection::Stage::kOver));
  etcd_.Signal(SIGCONT);
}

}  // namespace
}  // namespace muster::rendezvous
