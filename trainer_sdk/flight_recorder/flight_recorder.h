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
// directory. The file survives the process, however the process ends. Dump
// writes "rank_N.json" to the directory. `launch inspect DIRECTORY` compares
// all ranks.
class FlightRecorder {
 public:
  struct Options {
    int rank = 0;
    int world_size = 1;
    // The directory for the recorder's files. Empty: the ring is in memory
    // only, and Dump writes no file.
    std::string directory;
  };

  // Returns the recorder of this process, configured by RANK, WORLD_SIZE and
  // MUSTER_FLIGHT_RECORDER_DIR from the environment.
  static FlightRecorder& Process();

  // Creates the ring. If the directory is not writable, prints a warning on
  // stderr and records in memory only.
  explicit FlightRecorder(Options options);
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  // Registers a group and returns its number, which callers of Queue pass.
  // `members`: world ranks, indexed by rank in the group. `birth`:
  // distinguishes groups with the same name (GroupPlace::birth). If the ring
  // contains the failure of an earlier group with this name, or of a group
  // split from that group, deletes this failure from the ring. At most 63
  // groups at a time have an entry of their own in the ring's table of groups;
  // further groups share the entry "(further groups)".
  int AddGroup(const std::string& name, int rank, int size,
               const std::vector<int>& members, uint64_t birth, Instant now);
  // Reports that no more operations of the group will be recorded. The ring
  // keeps the group's entry until a new group needs the space.
  void RemoveGroup(int group);

  // Queue records that an operation was called, and returns the number of the
  // record. Start and End record the start and the end of the operation with
  // that number. `peers`: the peers of a batch, from BatchPeersOf.
  uint64_t Queue(int group, const OperationSignature& signature, int64_t bytes,
                 Instant now, const BatchPeers& peers = {});
  void Start(uint64_t number, Instant now);
  void End(uint64_t number, Instant now, absl::StatusCode status);
  // Records that an operation was called and started, both at the time `now`:
  // the same as Queue followed by Start.
  uint64_t QueueAndStart(int group, const OperationSignature& signature,
                         int64_t bytes, Instant now,
                         const BatchPeers& peers = {});

  FlightLog Snapshot() const;

  // Records that the group called `group` failed, and writes "rank_N.json".
  // Only the reason of the first failure is kept, until that group, or a group
  // from which it was split, is created again. Returns OK without writing if
  // there is no directory.
  absl::Status Fail(const std::string& group, const std::string& reason);

  // Writes "rank_N.json" although nothing has failed. `request`: the reason for
  // the dump; the file contains it. Returns OK without writing if there is no
  // directory.
  absl::Status Dump(const std::string& request);

 private:
  // Writes "rank_N.json", if there is a directory. The caller holds mutex_.
  absl::Status WriteJson() const;
  uint64_t Write(int group, const OperationSignature& signature, int64_t bytes,
                 Instant queued, Instant started, const BatchPeers& peers);
  // Returns the slot of the ring that holds record `number`; null if the record
  // has been overwritten.
  RingSlot* SlotOf(uint64_t number);

  const Options options_;
  OwnedFd file_;  // the ring's file, locked; not open if there is no directory
  RingImage* image_ = nullptr;  // the ring of the newest records, in memory
  mutable std::mutex mutex_;    // guards everything except the ring's records
  // Number of groups registered so far. This and the following member are
  // guarded by mutex_.
  uint64_t groups_made_ = 0;
  std::array<bool, kRingGroups> removed_{};
};

// Writes the dump of this process's recorder, "rank_N.json", although nothing
// has failed. `request`: the reason for the dump; the file contains it.
absl::Status DumpAll(const std::string& request);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_RECORDER_H_
