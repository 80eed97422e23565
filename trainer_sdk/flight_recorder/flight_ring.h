#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_RING_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_RING_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "trainer_sdk/flight_recorder/flight_log.h"

namespace muster {

// The layout of a ring in memory and in its mapped file. The file is complete
// even if the process is killed. Values are in native byte order: only a
// machine with the same byte order can read the file.
//
// Every field of a slot is an atomic, and `number` marks a slot that is being
// written, so that a concurrent reader sees only complete records.
inline constexpr uint64_t kBeingWritten = ~uint64_t{0};
struct RingSlot {
  // number of the record, from 1; 0: the slot was never used
  std::atomic<uint64_t> number;
  std::atomic<uint64_t> sequence;
  // group's id << 32 | mixed << 31 | kind << 24 | dtype << 16 | op << 8 |
  // status code
  std::atomic<uint64_t> what;
  std::atomic<int64_t> root;
  std::atomic<int64_t> count;
  std::atomic<uint64_t> counts_hash;
  std::atomic<int64_t> bytes;
  // time at which the operation was called, in nanoseconds of MonotonicNow's
  // clock
  std::atomic<int64_t> queued;
  // time at which the operation started; 0: not yet
  std::atomic<int64_t> started;
  std::atomic<int64_t> ended;
  // For batches: the peers, two per word, each stored as 1 + its rank in the
  // group; 0 ends the list.
  std::atomic<uint64_t> peers[4];
};

struct RingGroup {
  // The number of the group in the process, from 1; 0: unused entry. Written
  // last.
  std::atomic<uint64_t> id;
  uint64_t birth;
  int64_t made;  // time of creation, on the clock of RingSlot::queued
  int32_t rank;
  int32_t size;
  char name[112];
  // world ranks as text, such as "0-3,8"; empty if the text is too long
  char members[384];
};

inline constexpr int kRingGroups = 64;
inline constexpr int kRingSlots = 2048;

struct RingImage {
  char magic[16];
  int32_t rank;
  int32_t world_size;
  int64_t pid;
  // nanoseconds to add to MonotonicNow's clock to get Unix time
  int64_t unix_offset;
  char host[64];
  // reason for the failure of `failed_group`; written before `failed` is set
  char reason[512];
  char failed_group[112];
  // reason for a requested dump; written before `asked` is set
  char request[256];
  std::atomic<uint64_t> failed;
  std::atomic<uint64_t> asked;
  std::atomic<uint64_t> closed;
  std::atomic<uint64_t> next;  // number of the next record
  RingGroup groups[kRingGroups];
  RingSlot slots[kRingSlots];
};

inline constexpr char kRingMagic[16] = "muster flight 2";

// Reads a ring. Other threads may add records meanwhile, but not groups. Safe
// for any bytes: values out of range are left out.
FlightLog ReadRing(const RingImage& image);

// Reads a ring from the bytes of its file. InvalidArgument: the bytes are not a
// ring.
absl::StatusOr<FlightLog> ParseRing(const std::string& bytes);

// Convert {0, 1, 2, 3, 8} to "0-3,8", keeping the order, and back. Decoding
// gives an empty list for any other text and for more than a million ranks.
std::string EncodeMembers(const std::vector<int>& members);
std::vector<int> DecodeMembers(const std::string& text);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_RING_H_
