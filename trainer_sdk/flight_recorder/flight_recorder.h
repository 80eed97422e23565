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

// The last operations of this process, in a ring of fixed size. Thread-safe;
// recording neither locks, allocates nor enters the kernel.
//
// With a directory the ring is a file there, "rank_N.ring", which holds the
// last operations whatever becomes of the process; and Dump writes
// "rank_N.json" beside it. `launch inspect DIRECTORY` compares all ranks.
class FlightRecorder {
 public:
  struct Options {
    int rank = 0;
    int world_size = 1;
    // Empty: the ring is in memory only, and Dump writes nothing.
    std::string directory;
  };

  // The process's own: RANK, WORLD_SIZE and MUSTER_FLIGHT_RECORDER_DIR of the
  // environment.
  static FlightRecorder& Process();

  // Where the directory cannot be written to, says so once on stderr and goes
  // on without.
  explicit FlightRecorder(Options options);
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  // Names a group for its records; its number. `members`: world ranks by rank
  // in the group; `birth`: GroupPlace's. A failure of an earlier group of that
  // name, or of a part of it, is over. Of more than 63 that have not been
  // removed the rest is one, "(further groups)".
  int AddGroup(const std::string& name, int rank, int size,
               const std::vector<int>& members, uint64_t birth, Instant now);
  // Nothing more will be recorded of it; what was is kept until its place in
  // the table is needed.
  void RemoveGroup(int group);

  // An operation was asked for; its number. Then, with that number: it begins;
  // it has ended. `peers`: BatchPeersOf it.
  uint64_t Queue(int group, const OperationSignature& signature, int64_t bytes,
                 Instant now, const BatchPeers& peers = {});
  void Start(uint64_t number, Instant now);
  void End(uint64_t number, Instant now, absl::StatusCode status);
  // Queue and Start in one.
  uint64_t QueueAndStart(int group, const OperationSignature& signature,
                         int64_t bytes, Instant now,
                         const BatchPeers& peers = {});

  FlightLog Snapshot() const;

  // The group called `group` has failed: notes why, of which the first one
  // stays until its group is made again, and writes "rank_N.json". OK without a
  // directory.
  absl::Status Fail(const std::string& group, const std::string& reason);

  // Writes "rank_N.json", because somebody asks: nothing has failed.
  absl::Status Dump(const std::string& request);

 private:
  absl::Status WriteJson() const;  // mutex_ is held
  uint64_t Write(int group, const OperationSignature& signature, int64_t bytes,
                 Instant queued, Instant started, const BatchPeers& peers);
  // The slot of a record that has not been overwritten yet; else null.
  RingSlot* SlotOf(uint64_t number);

  const Options options_;
  OwnedFd file_;                // of the ring, locked; none without a directory
  RingImage* image_ = nullptr;  // mapped
  mutable std::mutex mutex_;    // of all but records
  // Guarded by mutex_:
  uint64_t groups_made_ = 0;
  std::array<bool, kRingGroups> removed_{};
};

// Dumps the process's recorder: for programs that want a look. Nothing counts
// as failed for it.
absl::Status DumpAll(const std::string& request);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_RECORDER_H_
