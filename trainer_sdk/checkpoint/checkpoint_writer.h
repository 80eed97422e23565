#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_WRITER_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_WRITER_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

class FileSystem;

struct CheckpointOptions {
  // The directory of the checkpoints, which every rank must reach under this
  // path. Created if it does not exist.
  std::string directory = {};
  // The number of checkpoints to keep, at least 1. Use at least 2 if another
  // process may read the newest checkpoint during the training. While a
  // checkpoint is being written, the directory has one more.
  int keep = 2;
  // The longest time that a rank waits for the other ranks in an operation of
  // the group. It must suffice for the slowest rank to write its share of a
  // checkpoint.
  Duration timeout = std::chrono::minutes(10);
  // The file system to use, not owned; null: the machine's own file systems
  // (Disk()).
  FileSystem* file_system = nullptr;
};

// Durations and data sizes of this rank's saves, summed over all saves.
struct CheckpointTimes {
  int64_t saves = 0;
  // The time for which Save blocked its caller, and three parts of it.
  // `waited`: waiting for the previous save. `compared`: computing the
  // checksums that compare replicas. `copied`: copying the slices.
  Duration blocked{};
  Duration waited{};
  Duration compared{};
  Duration copied{};
  // The time for which the background thread worked, concurrently with the
  // training: writing the shards, agreeing with the other ranks, writing the
  // manifest.
  Duration written{};
  // The number of bytes of tensor data in this rank's shards.
  int64_t bytes = 0;
};

// Writes checkpoints of a whole job in the background of its training. Each
// rank passes the slices that it holds. A slice that several ranks hold is
// written once, and each of these ranks writes a share of it. Whenever a
// process dies, a checkpoint is either complete or absent. A checkpoint is a
// folder with these files:
//
//   DIRECTORY/step-00000100/rank-00000.safetensors ...   the slices
//                           state                        rank 0's string
//                           manifest.json                written last
//
// The folder is written under a temporary name, every file is fsynced, and the
// folder is renamed once all ranks have finished. A second save of the same
// step makes step-00000100.2. The newest checkpoint is the one that was saved
// last. checkpoint_reader.h reads checkpoints.
//
// Not thread-safe: one call at a time.
class CheckpointWriter {
 public:
  // Makes a writer. Collective. Only this writer may use `group`, which must
  // outlive it. Removes unfinished checkpoints of writers that died;
  // left_over() lists those that cannot be removed, which do no harm.
  //
  // Only one job may write in a directory. Rank 0 locks the directory. If a
  // process of a previous job holds the lock, rank 0 waits up to 10 s for a
  // process on its own host. For a process on another host it waits up to 2
  // minutes, because a file server keeps the lock of a lost node that long.
  // Rank 0 never waits longer than half of CheckpointOptions::timeout. If the
  // file system has no locks (NFS or Lustre mounted without them), use one
  // directory per job. Otherwise a second job deletes the checkpoint that the
  // first job is writing, and each job removes the old checkpoints of the other
  // job.
  //
  // FailedPrecondition: another job writes in the directory (the message names
  // its host and process), or a rank does not see the files that rank 0 writes
  // in the directory. InvalidArgument: an option is invalid.
  static absl::StatusOr<std::unique_ptr<CheckpointWriter>> Create(
      ProcessGroup& group, CheckpointOptions options);

  // Blocks until no save is in progress.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Saves a checkpoint. Collective: every rank passes the same step and its own
  // slices. `state` is any string of bytes; only rank 0's is saved, and other
  // ranks may pass anything. Blocks until the previous save is done and this
  // rank's share is copied. A background thread does the rest, so the caller
  // may change the slices' memory as soon as Save returns.
  //
  // Every rank gets the same error, apart from its wording:
  //   InvalidArgument     a rank's slices or step are invalid (the message
  //                       gives the rank), some elements are on no rank, or
  //                       ranks disagree about a tensor. Nothing is saved.
  //   ResourceExhausted, PermissionDenied, Internal
  //                       the previous save failed; the message names the rank,
  //                       the file and the system's error. This save is not
  //                       started; a later call may succeed. Older checkpoints
  //                       are unchanged.
  //   DeadlineExceeded, Unavailable, ...
  //                       permanent errors of the group; the message names the
  //                       absent ranks.
  absl::Status Save(int64_t step, const std::vector<CheckpointSlice>& slices,
                    const std::string& state);

  // Blocks until the save in progress is done, and returns its status. Every
  // rank gets the same status, but the ranks need not call Wait together. Wait
  // returns an error only once; the next Save returns the error on every rank,
  // unless Wait has returned it on all ranks.
  absl::Status Wait();

  CheckpointTimes times() const;

  // Unfinished checkpoints that Create could not remove: paths and the system's
  // errors. These checkpoints occupy disk space until a later save or writer
  // can remove them. Empty on all ranks but rank 0.
  const std::vector<std::string>& left_over() const;

 private:
  class Body;
  explicit CheckpointWriter(std::unique_ptr<Body> body);

  std::unique_ptr<Body> body_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_WRITER_H_
