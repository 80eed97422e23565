#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_RECORDER_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_RECORDER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "trainer_sdk/flight_recorder/flight_log.h"
#include "trainer_sdk/flight_recorder/flight_ring.h"

namespace muster {

// Records the last operations of this process in a ring of fixed size.
// Thread-safe. Recording takes no lock, allocates nothing and makes no system
// call.
//
// If a directory is set, the ring is a mapped file in it, "rank_N.ring", which
// survives however the process ends, and Dump writes "rank_N.json" there.
// `launch inspect DIRECTORY` compares all ranks.
class FlightRecorder {
 public:
  struct Options {
    int rank = 0;
    int world_size = 1;
    // Empty: the ring is in memory only, and Dump writes nothing.
    std::string directory;
  };

  // The recorder of this process, with RANK, WORLD_SIZE and
  // MUSTER_FLIGHT_RECORDER_DIR from the environment.
  static FlightRecorder& Process();

  // If the directory is not writable, prints that once on stderr and continues
  // without it.
  explicit FlightRecorder(Options options);
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  // Registers a group and returns its number for records. `members`: world
  // ranks, by rank in the group. `birth`: GroupPlace::birth. Clears the failure
  // of an earlier group of that name, or of a part of it. If more than 63
  // groups are registered and not removed, the others share one entry,
  // "(further groups)".
  int AddGroup(const std::string& name, int rank, int size,
               const std::vector<int>& members, uint64_t birth, Instant now);
  // No more operations of the group will be recorded. Its entry is kept until
  // its place in the table is needed.
  void RemoveGroup(int group);

  // Queue records that an operation was called and returns its number; Start
  // and End record its begin and end by that number. `peers`: BatchPeersOf the
  // operation.
  uint64_t Queue(int group, const OperationSignature& signature, int64_t bytes,
                 Instant now, const BatchPeers& peers = {});
  void Start(uint64_t number, Instant now);
  void End(uint64_t number, Instant now, absl::StatusCode status);
  // Queue and Start in one call.
  uint64_t QueueAndStart(int group, const OperationSignature& signature,
                         int64_t bytes, Instant now,
                         const BatchPeers& peers = {});

  FlightLog Snapshot() const;

  // Records that the group called `group` failed, and writes "rank_N.json". The
  // first reason is kept until that group is made again. OK without a
  // directory.
  absl::Status Fail(const std::string& group, const std::string& reason);

  // Writes "rank_N.json" on request, without a failure.
  absl::Status Dump(const std::string& request);

 private:
  absl::Status WriteJson() const;  // needs mutex_
  uint64_t Write(int group, const OperationSignature& signature, int64_t bytes,
                 Instant queued, Instant started, const BatchPeers& peers);
  // The slot of a record; null if it has been overwritten.
  RingSlot* SlotOf(uint64_t number);

  const Options options_;
  OwnedFd file_;  // the ring's file, locked; not open without a directory
  RingImage* image_ = nullptr;  // mapped
  mutable std::mutex mutex_;    // guards everything except records
  // Guarded by mutex_:
  uint64_t groups_made_ = 0;
  std::array<bool, kRingGroups> removed_{};
};

// Dumps the process's recorder on request of the program. This does not count
// as a failure.
absl::Status DumpAll(const std::string& request);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_RECORDER_H_
