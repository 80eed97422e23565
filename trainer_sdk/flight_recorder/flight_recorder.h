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
// If a directory is set, the ring is the mapped file "rank_N.ring" in that
// directory, which survives the process however it ends, and Dump writes
// "rank_N.json" there. `launch inspect DIRECTORY` compares all ranks.
class FlightRecorder {
 public:
  struct Options {
    int rank = 0;
    int world_size = 1;
    // The directory of the recorder's files. Empty: the ring is in memory only,
    // and Dump writes nothing.
    std::string directory;
  };

  // The recorder of this process, with RANK, WORLD_SIZE and
  // MUSTER_FLIGHT_RECORDER_DIR from the environment.
  static FlightRecorder& Process();

  // If the directory is not writable, prints a warning on stderr and records in
  // memory only.
  explicit FlightRecorder(Options options);
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  // Registers a group and returns its number for records. `members`: world
  // ranks, by rank in the group. `birth`: GroupPlace::birth. Clears the
  // recorded failure of an earlier group of that name and of groups split from
  // it. At most 63 registered groups have entries of their own; further groups
  // share the entry "(further groups)".
  int AddGroup(const std::string& name, int rank, int size,
               const std::vector<int>& members, uint64_t birth, Instant now);
  // Reports that no more operations of the group will be recorded. The group's
  // entry is kept until its place in the table is needed.
  void RemoveGroup(int group);

  // Queue records that an operation was called, and returns the number of the
  // record. Start and End record the begin and end of the operation with that
  // number. `peers`: BatchPeersOf the operation.
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
  // first failure's reason is kept until that group is made again. Returns OK
  // if there is no directory.
  absl::Status Fail(const std::string& group, const std::string& reason);

  // Writes "rank_N.json" on request, without a failure.
  absl::Status Dump(const std::string& request);

 private:
  absl::Status WriteJson() const;  // The caller holds mutex_.
  uint64_t Write(int group, const OperationSignature& signature, int64_t bytes,
                 Instant queued, Instant started, const BatchPeers& peers);
  // The slot of a record; null if it has been overwritten.
  RingSlot* SlotOf(uint64_t number);

  const Options options_;
  OwnedFd file_;  // file of the ring, locked; not open without a directory
  RingImage* image_ = nullptr;  // the ring, mapped into memory
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
