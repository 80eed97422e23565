#include "trainer_sdk/checkpoint/joint_save.h"

#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/little_endian.h"
#include "trainer_sdk/checkpoint/checkpoint_files.h"
#include "trainer_sdk/checkpoint/exchange.h"
#include "trainer_sdk/checkpoint/message_reader.h"
#include "trainer_sdk/checkpoint/replica_check.h"

namespace muster {
namespace {

// Writes this rank's file if it has a share, and returns the file's record.
Word WriteShare(FileSystem& files, const JointSave& save,
                const std::string& folder, int rank) {
  Word word = {save.ready, ""};
  if (!word.status.ok() || save.layout->header.tensors.empty()) return word;
  const auto header = WriteSafetensorsHeader(save.layout->header);
  word.status = header.status();
  if (!word.status.ok()) return word;
  const auto record = WriteRecordedFile(files, folder, ShardFileName(rank),
                                        {*header, save.data});
  word.status = record.status();
  if (!word.status.ok()) return word;
  // On a network file system each client must sync its own names.
  word.status = files.SyncFolder(folder);
  AppendInteger(record->bytes, &word.bytes);
  AppendInteger(record->checksum, &word.bytes);
  return word;
}

// Rank 0's part after all ranks have written: makes the checkpoint final.
absl::StatusOr<std::string> Commit(FileSystem& files, const JointSave& save,
                                   const std::string& folder,
                                   const std::vector<Word>& shares) {
  std::vector<FileRecord> records;
  for (size_t rank = 0; rank < shares.size(); ++rank) {
    MessageReader reader(shares[rank].bytes);
    FileRecord record;
    record.name = ShardFileName(static_cast<int>(rank));
    record.bytes = reader.Number();
    record.checksum = static_cast<uint64_t>(reader.Number());
    records.push_back(std::move(record));
  }
  Manifest manifest;
  manifest.step = save.step;
  manifest.ranks = static_cast<int64_t>(shares.size());
  manifest.tensors = StoredTensors(*save.plan, &records);
  const auto state = WriteRecordedFile(files, folder, kStateFile, {save.state});
  if (!state.ok()) return state.status();
  records.push_back(*state);
  manifest.files = std::move(records);
  const auto path =
      CommitCheckpoint(files, save.directory, folder, std::move(manifest));
  if (!path.ok()) return path.status();
  return path->substr(path->rfind('/') + 1);
}

// An error up to here leaves only a folder made by rank 0.
absl::StatusOr<std::string> WriteAndCommit(ProcessGroup& group,
                                           FileSystem& files,
                                           const JointSave& save,
                                           const std::string& folder,
                                           CallOptions call) {
  auto words =
      Exchange(group, WriteShare(files, save, folder, group.rank()), call);
  if (!words.ok()) return words.status();
  absl::Status status = FirstFailureOf(*words);
  if (!status.ok()) return status;
  Word done;
  if (group.rank() == 0) {
    const auto name = Commit(files, save, folder, *words);
    done = {name.status(), name.ok() ? *name : ""};
  }
  words = Exchange(group, done, call);
  if (!words.ok()) return words.status();
  status = FirstFailureOf(*words);
  if (!status.ok()) return status;
  return words->front().bytes;
}

}  // namespace

std::string NewNonce() {
  std::random_device device;
  return absl::StrFormat("%08x%08x", device(), device());
}

absl::Status SaveTogether(ProcessGroup& group, FileSystem& files,
                          const JointSave& save, CallOptions call) {
  Word begun;
  AppendString(save.digests, &begun.bytes);
  if (group.rank() == 0) {
    const auto path =
        BeginCheckpoint(files, save.directory, save.step, NewNonce());
    begun.status = path.status();
    AppendString(path.ok() ? *path : "", &begun.bytes);
  }
  const auto words = Exchange(group, begun, call);
  if (!words.ok()) return words.status();
  absl::Status status = FirstFailureOf(*words);
  if (!status.ok()) return status;
  std::vector<std::string_view> digests;
  for (const Word& word : *words) {
    digests.push_back(MessageReader(word.bytes).Text());
  }
  MessageReader first(words->front().bytes);
  first.Text();
  const std::string folder(first.Text());
  if (status = CompareReplicas(*save.plan, digests); !status.ok()) {
    if (group.rank() == 0) files.Remove(folder).IgnoreError();
    return status;
  }
  const auto name = WriteAndCommit(group, files, save, folder, call);
  if (group.rank() != 0) return name.status();
  if (name.ok()) {
    PruneCheckpoints(files, save.directory, *name, save.keep, *save.whole);
  } else {
    // An incomplete checkpoint does no harm but occupies space.
    files.Remove(folder).IgnoreError();
  }
  return name.status();
}

}  // namespace muster
