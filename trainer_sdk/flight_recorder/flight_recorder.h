#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_RECORDER_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_RECORDER_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
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

  // Names a group for its records. `members`: world ranks by rank in the
  // group. A group like an earlier one has the earlier one's number; from the
  // 64th on all are "(further groups)".
  int AddGroup(const std::string& name, int rank, int size,
               const std::vector<int>& members);

  // An operation was asked for; its number. Then, with that number: it begins;
  // it has ended.
  uint64_t Queue(int group, const OperationSignature& signature, int64_t bytes,
                 Instant now);
  void Start(uint64_t number, Instant now);
  void End(uint64_t number, Instant now, absl::StatusCode status);
  // Queue and Start in one.
  uint64_t QueueAndStart(int group, const OperationSignature& signature,
                         int64_t bytes, Instant now);

  FlightLog Snapshot() const;

  // Writes "rank_N.json" with `reason`, of which the first one stays. OK
  // without a directory.
  absl::Status Dump(const std::string& reason);

 private:
  uint64_t Write(int group, const OperationSignature& signature, int64_t bytes,
                 Instant queued, Instant started);
  // The slot of a record that has not been overwritten yet; else null.
  RingSlot* SlotOf(uint64_t number);

  const Options options_;
  RingImage* image_ = nullptr;  // mapped
  std::mutex mutex_;            // of AddGroup and Dump
};

// Dumps the process's recorder: for programs that see something wrong.
absl::Status DumpAll(const std::string& reason);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_RECORDER_H_
