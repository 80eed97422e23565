#include "trainer_sdk/flight_recorder/torch_flight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "trainer_sdk/flight_recorder/flight_analysis.h"
#include "trainer_sdk/flight_recorder/flight_files.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

// Pickles a value in protocol 2, as PyTorch does for its dumps.
std::string Pickled(const Json& value) {
  const auto number = [](uint64_t n, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; i++) text += static_cast<char>(n >> (8 * i));
    return text;
  };
  if (value.is_null()) return "N";
  if (value.is_boolean()) return value.get<bool>() ? "\x88" : "\x89";
  if (value.is_number()) {
    return "\x8a\x08" + number(static_cast<uint64_t>(value.get<int64_t>()), 8);
  }
  if (value.is_string()) {
    const std::string text = value.get<std::string>();
    return "X" + number(text.size(), 4) + text;
  }
  std::string inner;
  for (const auto& [key, item] : value.items()) {
    if (value.is_object()) inner += Pickled(key);
    inner += Pickled(item);
  }
  return value.is_object() ? "}(" + inner + "u" : "](" + inner + "e";
}

std::string Dump(const Json& value) {
  return "\x80\x02" + Pickled(value) + ".";
}

Json Entry(const std::string& name, int sequence, const std::string& state,
           const Json& group = {"0", "default_pg"}) {
  return {{"record_id", sequence - 1},
          {"process_group", group},
          {"profiling_name", name},
          {"collective_seq_id", sequence},
          {"input_sizes", {{2, 3}}},
          {"input_dtypes", {"Float"}},
          {"output_sizes", {{2, 3}}},
          {"output_dtypes", {"Float"}},
          {"state", state},
          {"retired", state == "completed"},
          {"time_created_ns", 1000000000 * int64_t{sequence}},
          {"time_discovered_started_ns", nullptr},
          {"time_discovered_completed_ns", nullptr}};
}

Json OfTwoRanks(const std::vector<Json>& entries) {
  return {{"version", "2.10"},
          {"pg_config",
           {{"0", {{"name", "0"}, {"desc", "default_pg"}, {"ranks", "[0, 1]"}}},
            {"1", {{"name", "1"}, {"desc", "undefined"}, {"ranks", "[1]"}}}}},
          {"pg_status", Json::object()},
          {"entries", Json(entries)}};
}

FlightLog Log(const std::vector<Json>& entries, int rank = 0) {
  auto log = ParseTorchFlight(Dump(OfTwoRanks(entries)), rank);
  EXPECT_TRUE(log.ok()) << log.status();
  return log.ok() ? *log : FlightLog();
}

// The file of an agent whose workers are all alive.
std::string WorkersOf(int world_size) {
  return Json({{"format", "muster worker ends 1"},
               {"round", 1},
               {"world_size", world_size},
               {"workers", Json::array()}})
      .dump();
}

std::string Refusal(const Json& dump) {
  const auto log = ParseTorchFlight(Dump(dump), 0);
  EXPECT_FALSE(log.ok());
  return std::string(log.status().message());
}

TEST(TorchFlightTest, AnOperationHasItsKindTypeSizeAndTimes) {
  const FlightLog log = Log({Entry("nccl:all_reduce", 1, "completed"),
                             Entry("nccl:all_reduce", 2, "started")});
  EXPECT_EQ(log.world_size, 2);
  ASSERT_EQ(log.groups.size(), 1);
  EXPECT_EQ(log.groups[0].name, "default_pg");
  EXPECT_THAT(log.groups[0].members, ElementsAre(0, 1));
  ASSERT_EQ(log.records.size(), 2);
  const FlightRecord& first = log.records[0];
  EXPECT_EQ(Describe(first.signature), "all_reduce #1 of 6 float32 (24 bytes)");
  EXPECT_EQ(first.bytes, 24);
  EXPECT_EQ(first.queued, 1);
  EXPECT_EQ(first.started, 1);
  EXPECT_EQ(first.ended, 1);
  EXPECT_TRUE(log.records[1].in_progress());
  EXPECT_EQ(log.written, 2);
}

TEST(TorchFlightTest, BytesAreThoseOfPyTorchsTypes) {
  const std::pair<const char*, int64_t> sizes[] = {
      {"Char", 1},          {"Byte", 1},           {"Bool", 1},
      {"Float8_e4m3fn", 1}, {"Short", 2},          {"UInt16", 2},
      {"Half", 2},          {"BFloat16", 2},       {"Int", 4},
      {"UInt32", 4},        {"Float", 4},          {"ComplexHalf", 4},
      {"Long", 8},          {"UInt64", 8},         {"Double", 8},
      {"ComplexFloat", 8},  {"ComplexDouble", 16},
  };
  for (const auto& [name, bytes] : sizes) {
    Json entry = Entry("nccl:all_reduce", 1, "completed");
    entry["input_dtypes"] = {name};
    const FlightLog log = Log({entry});
    ASSERT_EQ(log.records.size(), 1);
    const FlightRecord& record = log.records[0];
    EXPECT_EQ(record.bytes, 6 * bytes) << name;
    // The size in a finding is computed from the operation's signature, so it
    // must be equal to record.bytes.
    EXPECT_EQ(record.signature.count * SizeOf(record.signature.dtype),
              6 * bytes)
        << name;
  }
}

// The parser counts at most 10^17 elements, so that a size in bytes cannot
// overflow 64 bits.
TEST(TorchFlightTest, BytesOfAHugeTensorDoNotOverflow) {
  Json entry = Entry("nccl:all_reduce", 1, "completed");
  entry["input_sizes"] = {{int64_t{1} << 62, int64_t{1} << 62}};
  entry["input_dtypes"] = {"ComplexDouble"};
  EXPECT_EQ(Log({entry}).records[0].bytes, 1'600'000'000'000'000'000);
}

TEST(TorchFlightTest, NamesOfPyTorchAreKinds) {
  const std::pair<const char*, OperationKind> names[] = {
      {"nccl:all_reduce", OperationKind::kAllReduce},
      {"nccl:all_reduce_barrier", OperationKind::kBarrier},
      {"gloo:barrier", OperationKind::kBarrier},
      {"nccl:_all_gather_base", OperationKind::kAllGather},
      {"nccl:ALLGATHER_coalesced", OperationKind::kAllGather},
      {"nccl:_reduce_scatter_base", OperationKind::kReduceScatter},
      {"nccl:_reduce_oop", OperationKind::kReduce},
      {"nccl:_broadcast_oop", OperationKind::kBroadcast},
      {"nccl:all_to_all", OperationKind::kAllToAll},
      {"nccl:gather", OperationKind::kGather},
      {"nccl:scatter", OperationKind::kScatter},
      {"nccl:send 0->1", OperationKind::kSend},
      {"nccl:recv 0<-1", OperationKind::kReceive},
      {"nccl:coalesced", OperationKind::kBatch},
  };
  for (const auto& [name, kind] : names) {
    const FlightLog log = Log({Entry(name, 1, "completed")});
    ASSERT_EQ(log.records.size(), 1);
    EXPECT_EQ(log.records[0].signature.kind, kind) << name;
  }
  EXPECT_EQ(
      Log({Entry("nccl:send 0->1", 1, "started")}).records[0].signature.root,
      1);
  EXPECT_THAT(Refusal(OfTwoRanks({Entry("nccl:dance", 1, "started")})),
              HasSubstr("an unknown operation, \"nccl:dance\""));
}

TEST(TorchFlightTest, ARankThatDoesNotCallWhatOthersWaitInIsFound) {
  const Json first = Entry("nccl:all_reduce", 1, "completed");
  const FlightAnalysis analysis =
      AnalyseFlight({Log({first, Entry("nccl:all_reduce", 2, "scheduled")}, 0),
                     Log({first}, 1)});
  ASSERT_EQ(analysis.findings.size(), 1);
  EXPECT_THAT(analysis.findings[0], HasSubstr("rank 1"));
  EXPECT_THAT(analysis.findings[0], HasSubstr("all_reduce #2"));
}

// PyTorch's dumps do not contain the size of the world. An agent's file has it.
// Rank 3 left no dump, and no dump names it.
TEST(TorchFlightTest, TheWorldMayBeLargerThanTheDumpsShow) {
  const std::string folder = testing::TempDir() + "/larger_world";
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder + "/" + name, std::ios::binary) << text;
  };
  write("nccl_trace_rank_0",
        Dump(OfTwoRanks({Entry("nccl:all_reduce", 1, "started")})));
  write("workers.4.json", WorkersOf(4));
  write("workers.1.json", WorkersOf(1));
  const std::string dump = folder + "/nccl_trace_rank_0";
  const std::string of_four = folder + "/workers.4.json";
  const std::string of_one = folder + "/workers.1.json";
  for (const auto& paths : {std::vector{dump, of_four}, {of_four, dump}}) {
    const auto flight = ReadFlight(paths);
    ASSERT_TRUE(flight.ok()) << flight.status();
    ASSERT_EQ(flight->logs.size(), 1);
    EXPECT_EQ(flight->logs[0].world_size, 4);
  }
  EXPECT_THAT(std::string(ReadFlight({dump, of_one}).status().message()),
              HasSubstr("of a world of 1, but others are of one of 2"));
  const auto flight = ReadFlight({of_one, dump});
  ASSERT_TRUE(flight.ok()) << flight.status();
  ASSERT_EQ(flight->unreadable.size(), 1);
  EXPECT_THAT(flight->unreadable[0], HasSubstr("of a world of 1"));
}

// In PyTorch's record of a scatter only the root has inputs, one for each rank.
// The log must have the size of one part on every rank.
TEST(TorchFlightTest, AScatterHasTheSizeOfOnePart) {
  Json at_root = Entry("gloo:scatter", 1, "completed");
  at_root["input_sizes"] = {{6}, {6}};
  at_root["output_sizes"] = {{6}};
  Json elsewhere = at_root;
  elsewhere["input_sizes"] = Json::array();
  elsewhere["input_dtypes"] = Json::array();
  const FlightLog root = Log({at_root}, 0);
  const FlightLog other = Log({elsewhere}, 1);
  EXPECT_EQ(root.records[0].signature.count, 6);
  EXPECT_TRUE(
      SameCollective(root.records[0].signature, other.records[0].signature));
}

// If a rank called an operation less than a second before the dump, the rank is
// not reported as stuck in that operation.
TEST(TorchFlightTest, AnOperationOfThisSecondIsNoStandstill) {
  const std::vector<FlightLog> logs = {
      Log({Entry("gloo:all_reduce", 1, "completed")}, 0),
      Log({Entry("gloo:all_reduce", 1, "scheduled")}, 1)};
  EXPECT_TRUE(AnalyseFlight(logs, {}, 1.5).findings.empty());
  EXPECT_FALSE(AnalyseFlight(logs, {}, 3.5).findings.empty());
}

TEST(TorchFlightTest, AbsurdNumbersAreRefused) {
  Json entry = Entry("gloo:barrier", 1, "completed");
  entry["collective_seq_id"] = -1;
  EXPECT_THAT(Refusal(OfTwoRanks({entry})), HasSubstr("is no count"));
}

TEST(TorchFlightTest, AGroupWithoutADescriptionHasItsName) {
  const FlightLog log =
      Log({Entry("gloo:barrier", 1, "completed", {"1", "undefined"}),
           Entry("gloo:barrier", 2, "completed", {"2", "mesh_tp"})},
          1);
  ASSERT_EQ(log.groups.size(), 2);
  EXPECT_EQ(log.groups[0].name, "1");
  EXPECT_THAT(log.groups[0].members, ElementsAre(1));
  EXPECT_EQ(log.groups[0].rank, 0);
  EXPECT_EQ(log.groups[1].name, "mesh_tp (2)");
  EXPECT_TRUE(log.groups[1].members.empty());
}

TEST(TorchFlightTest, OtherPicklesAreRefused) {
  EXPECT_THAT(Refusal({{"a", 1}}), HasSubstr("no dump of PyTorch's"));
  Json dump = OfTwoRanks({});
  dump["version"] = "3.0";
  EXPECT_THAT(Refusal(dump), HasSubstr("known are 2.x"));
  dump = OfTwoRanks({});
  dump["pg_config"]["0"]["ranks"] = "[0, 1";
  EXPECT_THAT(Refusal(dump), HasSubstr("has no list of ranks"));
  dump["pg_config"]["0"]["ranks"] = "[0, 1000000]";
  EXPECT_THAT(Refusal(dump), HasSubstr("has no list of ranks"));
}

TEST(TorchFlightTest, TheRankIsTheNumberAtTheEndOfTheName) {
  EXPECT_EQ(RankInName("/tmp/nccl_trace_rank_12"), 12);
  EXPECT_EQ(RankInName("7"), 7);
  EXPECT_EQ(RankInName("/tmp/trace"), -1);
  EXPECT_EQ(RankInName("/tmp/trace_1000000"), -1);
  EXPECT_EQ(RankInName(""), -1);
}

}  // namespace
}  // namespace muster
