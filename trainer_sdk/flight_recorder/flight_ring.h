#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_RING_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_RING_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "trainer_sdk/flight_recorder/flight_log.h"

namespace muster {

// The layout of a ring in memory and in its mapped file. The file is complete
// even if the process is killed. Native byte order: it can be read only on a
// machine with the same byte order.
//
// Every field of a slot is an atomic, and `number` marks a slot that is being
// written, so that a concurrent reader sees only complete records.
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
  // For batches: the peers, two per word, each as 1 + its rank in the group; 0:
  // end.
  std::atomic<uint64_t> peers[4];
};

struct RingGroup {
  // The number of the group in the process, from 1; 0: unused entry. Written
  // last.
  std::atomic<uint64_t> id;
  uint64_t birth;
  int64_t made;  // time, as RingSlot::queued
  int32_t rank;
  int32_t size;
  char name[112];
  char members[384];  // "0-3,8"; empty if too long
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
  // reason for `failed_group`; written before `failed` is set
  char reason[512];
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

// Reads a ring. Safe while records are being written, but not groups. Safe for
// any bytes: values out of range are left out.
FlightLog ReadRing(const RingImage& image);

// The same for the bytes of a file. InvalidArgument: not a ring.
absl::StatusOr<FlightLog> ParseRing(const std::string& bytes);

// Converts {0, 1, 2, 3, 8} to "0-3,8", in the given order, and back. Decoding
// gives an empty list for any other text and for more than a million ranks.
std::string EncodeMembers(const std::vector<int>& members);
std::vector<int> DecodeMembers(const std::string& text);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_RING_H_
