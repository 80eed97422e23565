#include "trainer_sdk/flight_recorder/flight_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "trainer_sdk/flight_recorder/flight_ring.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

FlightLog Log(int rank, int world_size) {
  FlightLog log;
  log.rank = rank;
  log.world_size = world_size;
  log.host = "node\"1";
  log.pid = 12;
  log.written = 1000.5;
  log.request = "a look";
  log.groups = {{"world", rank, world_size, {0, 1}, uint64_t{1} << 63, 999}};
  FlightRecord record;
  record.number = 1;
  record.signature =
      SignatureOf(AllReduce(nullptr, nullptr, 4, DType::kBFloat16), 9);
  record.bytes = 8;
  record.started = 1000;
  record.status = absl::StatusCode::kDataLoss;
  record.ended = 1000.5;
  log.records = {record};
  return log;
}

class FlightFilesTest : public testing::Test {
 protected:
  FlightFilesTest() {
    std::string pattern = testing::TempDir() + "/filesXXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~FlightFilesTest() override { std::filesystem::remove_all(directory_); }

  std::string Write(const std::string& name, const std::string& bytes) {
    std::string path = directory_ + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  std::string directory_;
};

std::string Complaint(const std::vector<std::string>& paths) {
  const auto logs = ReadFlight(paths);
  EXPECT_TRUE(absl::IsInvalidArgument(logs.status())) << logs.status();
  return std::string(logs.status().message());
}

TEST_F(FlightFilesTest, JsonComesBack) {
  const FlightLog log = Log(1, 2);
  const auto parsed = ParseFlight(FlightJson(log));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(FlightJson(*parsed), FlightJson(log));
  EXPECT_EQ(parsed->records[0].signature, log.records[0].signature);
  EXPECT_EQ(parsed->records[0].status, absl::StatusCode::kDataLoss);
}

TEST_F(FlightFilesTest, OfSeveralOfARankTheLatestCounts) {
  FlightLog early = Log(0, 2), late = Log(0, 2);
  early.reason = "rank 1 died";
  late.written = 2000;
  late.pid = 77;
  Write("rank_1.json", FlightJson(early));
  Write("rank_2.json", FlightJson(late));
  Write("other.json", "not looked at");
  auto logs = ReadFlight({directory_});
  ASSERT_TRUE(logs.ok()) << logs.status();
  ASSERT_THAT(logs->logs, SizeIs(1));
  EXPECT_EQ(logs->logs[0].pid, 77);
  EXPECT_EQ(logs->logs[0].reason, "") << "another process's";
  // Both files are now dumps of one process, written at the same time. Only
  // `early` contains the reason for a failure. The merged log must have this
  // reason.
  late.written = early.written;
  late.pid = early.pid;
  Write("rank_2.json", FlightJson(late));
  logs = ReadFlight({directory_});
  ASSERT_TRUE(logs.ok()) << logs.status();
  EXPECT_EQ(logs->logs[0].reason, "rank 1 died");
}

std::string Ends(int round, const std::string& workers, int world_size = 2) {
  return R"({"format":"muster worker ends 1","round":)" +
         std::to_string(round) + R"(,"world_size":)" +
         std::to_string(world_size) + R"(,"workers":[)" + workers + "]}\n";
}

std::string End(int rank, const std::string& how, double time = 1000) {
  return R"({"rank":)" + std::to_string(rank) +
         R"(,"host":"n","pid":7,"how":")" + how + R"(","time":)" +
         std::to_string(time) + R"(,"message":"killed\nby a signal"})";
}

TEST_F(FlightFilesTest, AgentsTellHowTheirWorkersEnded) {
  Write("rank_0.json", FlightJson(Log(0, 2)));
  Write("workers.0.json", Ends(3, End(0, "stopped")));
  Write("workers.1.json", Ends(3, End(1, "killed")));
  const auto flight = ReadFlight({directory_});
  ASSERT_TRUE(flight.ok()) << flight.status();
  EXPECT_THAT(flight->logs, SizeIs(1));
  ASSERT_THAT(flight->ends, SizeIs(2));
  EXPECT_EQ(flight->ends[0].how, HowEnded::kStopped);
  EXPECT_EQ(flight->ends[1].how, HowEnded::kKilled);
  EXPECT_EQ(flight->ends[1].pid, 7);
  EXPECT_EQ(flight->ends[1].message, "killed?by a signal");
}

TEST_F(FlightFilesTest, OfTheEndsTheLastRoundsAndLatestCount) {
  Write("workers.0.json", Ends(2, End(0, "killed") + "," + End(1, "killed")));
  Write("workers.1.json", Ends(3, End(1, "exited", 10)));
  Write("workers.2.json", Ends(3, End(1, "hung", 20)));
  Write("workers.3.json", Ends(1, End(0, "killed")));
  const auto flight = ReadFlight({directory_});
  ASSERT_TRUE(flight.ok()) << flight.status();
  EXPECT_THAT(flight->logs, SizeIs(0));
  ASSERT_THAT(flight->ends, SizeIs(1));
  EXPECT_EQ(flight->ends[0].how, HowEnded::kHung);
}

TEST_F(FlightFilesTest, SaysWhatIsNoFileOfAnAgents) {
  const auto complaint = [&](const std::string& text) {
    return Complaint({Write("workers.0.json", text)});
  };
  EXPECT_THAT(complaint(Ends(1, End(2, "killed"))),
              HasSubstr("outside of its"));
  EXPECT_THAT(complaint(Ends(1, End(-1, "killed"))), HasSubstr("outside of"));
  EXPECT_THAT(complaint(Ends(1, End(0, "eaten"))), HasSubstr("unknown kind"));
  EXPECT_THAT(complaint(Ends(-1, "")), HasSubstr("no round"));
  EXPECT_THAT(complaint(Ends(1, "", 0)), HasSubstr("no possible size"));
  EXPECT_THAT(complaint(Ends(1, "", 2000000)), HasSubstr("no possible size"));
  EXPECT_THAT(complaint(Ends(1, "7")), HasSubstr("workers.0.json: not an"));
  EXPECT_THAT(complaint(Ends(1, "[")), HasSubstr("no JSON object"));
  EXPECT_THAT(complaint(Ends(1, "{}")),
              AllOf(HasSubstr("workers ended: key 'rank' not"),
                    Not(HasSubstr("exception"))));
  Write("rank_0.json", FlightJson(Log(0, 2)));
  Write("workers.0.json", Ends(1, "", 3));
  EXPECT_THAT(Complaint({directory_}), HasSubstr("of a world of 3"));
}

TEST_F(FlightFilesTest, SaysWhatIsNoDump) {
  EXPECT_THAT(Complaint({}), HasSubstr("no dumps given"));
  EXPECT_THAT(Complaint({directory_}), AllOf(HasSubstr("holds no rank_N.ring"),
                                             Not(HasSubstr("the latest"))));
  EXPECT_THAT(Complaint({directory_ + "/absent"}), HasSubstr("No such file"));
  EXPECT_THAT(Complaint({Write("a.json", "{}")}),
              AllOf(HasSubstr("a.json: not a dump of the flight recorder: its "
                              "format is not \"muster flight recorder 2\""),
                    Not(HasSubstr("exception"))));
  std::string cut = FlightJson(Log(0, 2));
  cut.replace(cut.find("\"pid\""), 5, "\"xid\"");
  EXPECT_THAT(Complaint({Write("a.json", cut)}),
              AllOf(HasSubstr("flight recorder: key 'pid'"),
                    Not(HasSubstr("exception"))));
  std::string unknown = FlightJson(Log(0, 2));
  unknown.replace(unknown.find("\"kind\":\"") + 8, 0, "a\\n\\u001b");
  EXPECT_THAT(Complaint({Write("a.json", unknown)}),
              HasSubstr("unknown name 'a\\n\\x1b"));
  EXPECT_THAT(Complaint({Write("b.ring", "")}), HasSubstr("b.ring: is empty"));
  EXPECT_THAT(Complaint({Write("b.json", "7")}), HasSubstr("no JSON object"));
  EXPECT_THAT(Complaint({Write("c.ring", kRingMagic)}), HasSubstr("c.ring: "));
  const std::string pipe = directory_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(Complaint({pipe}), HasSubstr("not a file"));
  EXPECT_THAT(Complaint({Write("d", FlightJson(Log(0, 2))),
                         Write("e", FlightJson(Log(1, 3)))}),
              HasSubstr("of a world of 3"));
  EXPECT_THAT(Complaint({Write("f", FlightJson(Log(0, 2000000)))}),
              HasSubstr("world of 2000000"));
  EXPECT_THAT(Complaint({Write("g", FlightJson(Log(5, 2)))}),
              HasSubstr("rank 5 of 2"));
}

TEST_F(FlightFilesTest, OfAFolderOfLogsTheLatestAttemptIsNamed) {
  const auto attempt = [&](const std::string& folder, const std::string& file,
                           int age) {
    std::filesystem::create_directories(directory_ + "/" + folder);
    std::filesystem::last_write_time(
        Write(folder + "/" + file, "x"),
        std::filesystem::file_time_type::clock::now() -
            std::chrono::seconds(age));
  };
  attempt("job1/attempt_0", "rank_0.ring", 30);
  attempt("job2/attempt_0", "rank_0.ring", 10);
  attempt("job2/attempt_1", "workers.0.json", 20);
  attempt("job2/attempt_2", "other.json", 0);
  attempt("job2/attempt_2/deeper", "rank_0.ring", 0);
  EXPECT_EQ(Complaint({directory_}),
            directory_ +
                ": holds no rank_N.ring, rank_N.json, "
                "workers.N.json or *rank_N; the latest are in " +
                directory_ + "/job2/attempt_0");
  EXPECT_THAT(Complaint({directory_ + "/job1"}),
              HasSubstr("the latest are in " + directory_ + "/job1/attempt_0"));
}

TEST_F(FlightFilesTest, NumbersThatDoNotFitAreRefused) {
  const std::string good = FlightJson(Log(1, 2));
  for (const char* bad : {"1e300", "-1", "99999999999999999999", "1.5", "\"1\"",
                          "null", "[]", "9223372036854775808"}) {
    std::string text = good;
    text.replace(text.find("\"pid\":12") + 6, 2, bad);
    const auto log = ParseFlight(text);
    EXPECT_EQ(log.ok(), std::string(bad) == "-1") << bad;
  }
}

// A damaged file must be rejected or parsed, without a crash.
TEST_F(FlightFilesTest, SpoiledFilesDoNoHarm) {
  std::minstd_rand random(1);
  std::string ring(sizeof(RingImage), '\0');
  ring.replace(0, sizeof(kRingMagic), kRingMagic, sizeof(kRingMagic));
  ring[offsetof(RingImage, world_size)] = 4;
  ASSERT_TRUE(ParseFlight(ring).ok());
  const std::string json = FlightJson(Log(1, 2));
  for (int i = 0; i < 3000; i++) {
    std::string text = json;
    for (unsigned n = random() % 4 + 1; n > 0; n--) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, random() % 20);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 30));
      }
    }
    const auto log = ParseFlight(text);
    if (log.ok()) FlightJson(*log);
  }
  const std::string ends = Ends(1, End(0, "killed") + "," + End(1, "exited"));
  ASSERT_TRUE(ParseFlightEnds(ends).ok());
  for (int i = 0; i < 3000; i++) {
    std::string text = ends;
    for (unsigned n = random() % 4 + 1; n > 0; n--) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    (void)ParseFlightEnds(text);
  }
  for (int i = 0; i < 30; i++) {
    std::string bytes = ring;
    for (int n = 0; n < 20000; n++) {
      bytes[sizeof(kRingMagic) + 8 +
            random() % (bytes.size() - sizeof(kRingMagic) - 8)] =
          static_cast<char>(random());
    }
    const auto log = ParseFlight(bytes);
    if (log.ok()) FlightJson(*log);
  }
  for (int i = 0; i < 50; i++) {
    EXPECT_FALSE(ParseFlight(ring.substr(0, random() % ring.size())).ok());
  }
}

}  // namespace
}  // namespace muster
