#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_RING_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_RING_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "trainer_sdk/flight_recorder/flight_log.h"

namespace muster {

// The layout of the recorder's ring, in memory and in its mapped file. The file
// keeps all records even if the process is killed. Values are in native byte
// order, so only a machine with the same byte order can read the file.

// The value of RingSlot::number while a thread writes the slot. Other threads
// may read the slot at the same time: readers skip a slot with this value, and
// all fields of a slot are atomics.
inline constexpr uint64_t kBeingWritten = ~uint64_t{0};
struct RingSlot {
  // number of the record, from 1; 0: the slot was never used
  std::atomic<uint64_t> number;
  std::atomic<uint64_t> sequence;
  // several values of the operation, packed into one number: group's id << 32 |
  // mixed (see OperationSignature) << 31 | kind << 24 | dtype << 16 | reduction
  // << 8 | status code
  std::atomic<uint64_t> what;
  std::atomic<int64_t> root;
  std::atomic<int64_t> count;
  std::atomic<uint64_t> counts_hash;
  std::atomic<int64_t> bytes;
  // time at which the operation was called, in nanoseconds on the clock of
  // MonotonicNow
  std::atomic<int64_t> queued;
  // time at which the operation started, in nanoseconds on the clock of
  // MonotonicNow; 0: not started yet
  std::atomic<int64_t> started;
  std::atomic<int64_t> ended;
  // For a batch of sends and receives: the ranks of its peers in the group,
  // each plus 1, two per 64-bit word. 0 ends the list.
  std::atomic<uint64_t> peers[4];
};

struct RingGroup {
  // The group's number in this process, from 1; 0: this entry is unused.
  // Written after all other fields.
  std::atomic<uint64_t> id;
  uint64_t birth;
  // time of the group's creation, in nanoseconds on the clock of MonotonicNow
  int64_t made;
  int32_t rank;
  int32_t size;
  char name[112];
  // the members' world ranks as text, such as "0-3,8"; empty if the text would
  // be too long
  char members[384];
};

inline constexpr int kRingGroups = 64;
inline constexpr int kRingSlots = 2048;

struct RingImage {
  char magic[16];
  int32_t rank;
  int32_t world_size;
  int64_t pid;
  // nanoseconds to add to a time of MonotonicNow to get Unix time
  int64_t unix_offset;
  char host[64];
  // reason why the group `failed_group` failed; valid while `failed` is not 0
  char reason[512];
  char failed_group[112];
  // reason for a dump of the records that was requested although no group has
  // failed; valid while `asked` (a dump was requested) is not 0
  char request[256];
  std::atomic<uint64_t> failed;
  std::atomic<uint64_t> asked;
  std::atomic<uint64_t> closed;
  std::atomic<uint64_t> next;  // number of the next record, from 1
  RingGroup groups[kRingGroups];
  RingSlot slots[kRingSlots];
};

inline constexpr char kRingMagic[16] = "muster flight 2";

// Reads a ring into a log. Other threads may add records meanwhile, but not
// groups. Safe for any bytes in `image`: values out of range are left out.
FlightLog ReadRing(const RingImage& image);

// Reads a ring from the bytes of its file. InvalidArgument: the bytes are not a
// ring file.
absl::StatusOr<FlightLog> ParseRing(const std::string& bytes);

// EncodeMembers converts a list such as {0, 1, 2, 3, 8} to "0-3,8", in the same
// order; DecodeMembers converts it back. DecodeMembers returns an empty list
// for any other text and for more than a million ranks.
std::string EncodeMembers(const std::vector<int>& members);
std::vector<int> DecodeMembers(const std::string& text);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_RING_H_
