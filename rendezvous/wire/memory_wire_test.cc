#include "rendezvous/wire/memory_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proto/admin.pb.h"
#include "proto/journal.pb.h"
#include "rendezvous/wire/testing/full_messages.h"

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

NodeMemory::Kept FullMemory() {
  NodeMemory::Kept kept;
  NodeMemory::Kept::Host& host = kept.hosts.emplace_back();
  host.key = {.host = "h1", .ip = "10.0.0.1"};
  host.state = HostState::kQuarantined;
  host.ordered_at = std::chrono::seconds(5);
  host.order = "freed by ada";
  NodeMemory::Kept::Fault& fault = host.faults.emplace_back();
  fault.fault = {.host = host.key,
                 .kind = FaultKind::kCheck,
                 .run_id = "train",
                 .rank = 3,
                 .signature = "SIGBUS",
                 .text = "no disk\xff",
                 .incarnation = 7,
                 .ordinal = 8};
  fault.when = std::chrono::seconds(6);
  fault.is_void = true;
  return kept;
}

TEST(MemoryWire, EveryFieldIsWrittenAndRead) {
  const NodeMemory::Kept kept = FullMemory();
  v1::NodeMemory wire;
  ASSERT_TRUE(wire.ParseFromString(ToBytes(kept)));
  EXPECT_THAT(UnsetFields(wire), IsEmpty());
  const auto read = MemoryFromBytes(ToBytes(kept));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(ToBytes(*read), ToBytes(kept));
  ASSERT_THAT(read->hosts, SizeIs(1));
  ASSERT_THAT(read->hosts[0].faults, SizeIs(1));
  EXPECT_EQ(read->hosts[0].faults[0].fault, kept.hosts[0].faults[0].fault);
}

TEST(MemoryWire, DamagedAndUnboundedBytesAreRefused) {
  EXPECT_TRUE(absl::IsDataLoss(MemoryFromBytes("\xff\xff").status()));
  NodeMemory::Kept kept = FullMemory();
  kept.hosts[0].state = static_cast<HostState>(9);
  const absl::Status status = MemoryFromBytes(ToBytes(kept)).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("state"));
  kept = FullMemory();
  kept.hosts[0].faults.resize(NodeMemory::kMaxFaults + 1);
  EXPECT_TRUE(absl::IsInvalidArgument(MemoryFromBytes(ToBytes(kept)).status()));
  kept = FullMemory();
  kept.hosts.resize(NodeMemory::kMaxHosts + 1);
  EXPECT_TRUE(absl::IsInvalidArgument(MemoryFromBytes(ToBytes(kept)).status()));
  kept = FullMemory();
  kept.hosts[0].faults[0].fault.kind = static_cast<FaultKind>(77);
  EXPECT_TRUE(absl::IsInvalidArgument(MemoryFromBytes(ToBytes(kept)).status()));
}

TEST(MemoryWire, AListedNodeIsWrittenAndRead) {
  const HostStatus status{.key = {.host = "h1", .ip = "10.0.0.1"},
                          .judgement = {.state = HostState::kSuspected,
                                        .score = 1.5,
                                        .reason = "lost"},
                          .run_id = "train",
                          .faults = 2,
                          .age = std::chrono::seconds(3)};
  v1::HostStatus wire;
  ToWire(status, &wire);
  EXPECT_THAT(UnsetFields(wire), IsEmpty());
  HostStatus read;
  ASSERT_TRUE(FromWire(wire, &read).ok());
  EXPECT_EQ(read.key, status.key);
  EXPECT_EQ(read.judgement, status.judgement);
  EXPECT_EQ(read.run_id, "train");
  EXPECT_EQ(read.faults, 2);
  EXPECT_EQ(read.age, status.age);
}

}  // namespace
}  // namespace muster::rendezvous
