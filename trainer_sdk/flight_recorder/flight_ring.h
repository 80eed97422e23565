#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_RING_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_RING_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "trainer_sdk/flight_recorder/flight_log.h"

namespace muster {

// How a ring lies in memory, and in the file that is mapped there: what a
// process wrote is in the file even if the process is killed. Native byte
// order; only read on a machine like the one that wrote it.
//
// Every field of a slot is an atomic, and `number` says when a slot is being
// written: who reads beside the writers sees whole records only.
inline constexpr uint64_t kBeingWritten = ~uint64_t{0};
struct RingSlot {
  std::atomic<uint64_t> number;  // 0: never used
  std::atomic<uint64_t> sequence;
  // group's id << 32 | mixed << 31 | kind << 24 | dtype << 16 | op << 8 |
  // status code
  std::atomic<uint64_t> what;
  std::atomic<int64_t> root;
  std::atomic<int64_t> count;
  std::atomic<uint64_t> counts_hash;
  std::atomic<int64_t> bytes;
  std::atomic<int64_t> queued;   // nanoseconds of MonotonicNow's clock
  std::atomic<int64_t> started;  // 0: not yet
  std::atomic<int64_t> ended;
  // A batch's only: two in each, 1 + their rank in the group; 0: no more.
  std::atomic<uint64_t> peers[4];
};

struct RingGroup {
  // Counts the groups of the process from 1; 0: none is here. Set last.
  std::atomic<uint64_t> id;
  uint64_t birth;
  int64_t made;  // as RingSlot::queued
  int32_t rank;
  int32_t size;
  char name[112];
  char members[384];  // "0-3,8"; empty where they do not fit
};

inline constexpr int kRingGroups = 64;
inline constexpr int kRingSlots = 2048;

struct RingImage {
  char magic[16];
  int32_t rank;
  int32_t world_size;
  int64_t pid;
  int64_t unix_offset;  // nanoseconds; MonotonicNow's clock + this = Unix time
  char host[64];
  char reason[512];  // of `failed_group`; written before `failed` is set
  char failed_group[112];
  char request[256];  // written before `asked` is set
  std::atomic<uint64_t> failed;
  std::atomic<uint64_t> asked;
  std::atomic<uint64_t> closed;
  std::atomic<uint64_t> next;  // number of the next record
  RingGroup groups[kRingGroups];
  RingSlot slots[kRingSlots];
};

inline constexpr char kRingMagic[16] = "muster flight 2";

// What `image` holds. Safe beside writers of records, though not of groups, and
// for any bytes: whatever is out of range is left out.
FlightLog ReadRing(const RingImage& image);

// The same of a file's bytes. InvalidArgument: this is no ring.
absl::StatusOr<FlightLog> ParseRing(const std::string& bytes);

// "0-3,8" of {0, 1, 2, 3, 8}, in the order given, and back. Empty for what is
// no such text or names more than a million ranks.
std::string EncodeMembers(const std::vector<int>& members);
std::vector<int> DecodeMembers(const std::string& text);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_RING_H_
