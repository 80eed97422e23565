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
  // Every rank reaches the same folder under this path; made where it is not
  // there.
  std::string directory = {};
  // How many checkpoints stay; at least 1, and 2 where somebody may read the
  // newest while the training goes on. While one is written there is one more.
  int keep = 2;
  // How long a rank waits for the slowest one to have written its share.
  Duration timeout = std::chrono::minutes(10);
  // Not owned; null: the machine's.
  FileSystem* file_system = nullptr;
};

// Where the time went, over all saves of this rank.
struct CheckpointTimes {
  int64_t saves = 0;
  // In Save: all of it; of it the wait for the save before, the checksums by
  // which replicas are compared, and the copying.
  Duration blocked{};
  Duration waited{};
  Duration compared{};
  Duration copied{};
  // Beside the training: shard, agreement, manifest.
  Duration written{};
  // Of this rank's shards.
  int64_t bytes = 0;
};

// Writes checkpoints of a whole job beside its training. Each rank gives the
// slices that it has; what several have is written once, each of them writing
// its share. A checkpoint is there whole or not at all, whenever whoever dies:
//
//   DIRECTORY/step-00000100/rank-00000.safetensors ...   the slices
//                           state                        rank 0's string
//                           manifest.json                written last
//
// is written under another name, every file is forced to the disk, and the
// folder is renamed when all ranks have finished. A save of a step that is
// there already makes step-00000100.2; the newest is the one saved last.
// How it is read again: checkpoint_reader.h.
//
// One thread at a time.
class CheckpointWriter {
 public:
  // Collective. `group` is the writer's alone from here on and must outlive it.
  // Clears away what writers that died have left unfinished; what cannot be
  // removed is told by left_over() and is in nobody's way.
  //
  // One job writes in a directory: rank 0 has it locked, and waits for the lock
  // of a job before it, 10 s for a process on its own host and 2 minutes for
  // any other, as a file server keeps the lock of a lost node that long; never
  // longer than half of the timeout. Where the file system has no locks (NFS or
  // Lustre mounted without), nothing keeps two jobs apart: the second clears
  // away what the first is writing, which is then lost, and each removes the
  // other's old checkpoints. Give each job a directory of its own there.
  //
  // FailedPrecondition: another job writes in the directory, on which host and
  // which process, or a rank does not see what rank 0 writes there.
  // InvalidArgument: the options.
  static absl::StatusOr<std::unique_ptr<CheckpointWriter>> Create(
      ProcessGroup& group, CheckpointOptions options);

  // Finishes the save under way.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Collective: every rank with the same step and its slices; the state is rank
  // 0's (others may give anything) and may be any bytes. Waits until the save
  // before is done, copies this rank's share and returns; the rest happens on a
  // thread of its own. The slices may change as soon as it returns.
  //
  // Every rank gets an error, the same one but for the wording:
  //   InvalidArgument     a rank's slices or step are wrong: whose, which;
  //                       elements that no rank has; ranks that disagree about
  //                       a tensor. Nothing is saved.
  //   ResourceExhausted, PermissionDenied, Internal
  //                       the save before failed: rank, file, and what the
  //                       system said. This one is not begun; the next call is
  //                       free to try. Older checkpoints are as they were.
  //   DeadlineExceeded, Unavailable, ...
  //                       the group's: who was absent. For good.
  absl::Status Save(int64_t step, const std::vector<CheckpointSlice>& slices,
                    const std::string& state);

  // Until the save under way is done: whether it is there, on every rank. An
  // error is told once. Not collective, but a rank's end of a collective one.
  absl::Status Wait();

  CheckpointTimes times() const;

  // What Create could not clear away: paths, and what the system said. It takes
  // room until a later save or writer can remove it. Rank 0's; others: none.
  const std::vector<std::string>& left_over() const;

 private:
  class Body;
  explicit CheckpointWriter(std::unique_ptr<Body> body);

  std::unique_ptr<Body> body_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_WRITER_H_
