#include "trainer_sdk/checkpoint/checkpoint_reader.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/checksum.h"
#include "base/little_endian.h"
#include "trainer_sdk/checkpoint/checkpoint_folders.h"
#include "trainer_sdk/checkpoint/exchange.h"
#include "trainer_sdk/checkpoint/manifest.h"
#include "trainer_sdk/checkpoint/share_plan.h"
#include "trainer_sdk/files/file_system.h"
#include "trainer_sdk/safetensors/safetensors_file.h"

namespace muster {
namespace {

// One read from a shard (the file that one rank wrote): a range that the shard
// contains, the part of the range to read, and the memory for this part.
struct ShardRead {
  SliceRange stored;
  int64_t offset = 0;
  int64_t bytes = 0;
  char* out = nullptr;
};

// Performs all reads from one shard. DataLoss: the shard does not contain what
// the manifest says.
absl::Status ReadShard(FileSystem& files, const std::string& folder,
                       const FileRecord& record,
                       const std::vector<ShardRead>& reads) {
  const std::string path = absl::StrCat(folder, "/", record.name);
  const auto file = SafetensorsFile::Open(path, &files);
  if (!file.ok()) return file.status();
  std::map<std::string_view, const SafetensorsTensor*> entries;
  for (const SafetensorsTensor& tensor : (*file)->header().tensors) {
    entries.emplace(tensor.name, &tensor);
  }
  for (const ShardRead& read : reads) {
    const std::string name = ShardEntryName(read.stored);
    const int64_t bytes = (read.stored.end - read.stored.begin) *
                          SizeOf(read.stored.tensor.dtype);
    const auto entry = entries.find(name);
    if (entry == entries.end() ||
        entry->second->type != SafetensorsTypeOf(read.stored.tensor.dtype) ||
        entry->second->bytes() != bytes) {
      return absl::DataLossError(absl::StrCat(path, " does not have '", name,
                                              "' as its manifest says"));
    }
    absl::Status status =
        (*file)->ReadAt(*entry->second, read.offset, read.bytes, read.out);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

FileSystem& Or(FileSystem* files) { return files != nullptr ? *files : Disk(); }

}  // namespace

class CheckpointReader::Body {
 public:
  Body(FileSystem& files, std::string folder, Manifest manifest,
       std::string state, std::vector<SkippedCheckpoint> skipped)
      : files_(files),
        folder_(std::move(folder)),
        manifest_(std::move(manifest)),
        state_(std::move(state)),
        skipped_(std::move(skipped)) {
    for (const StoredTensor& stored : manifest_.tensors) {
      by_name_.emplace(stored.tensor.name, &stored);
      tensors_.push_back(stored.tensor);
    }
  }

  int64_t step() const { return manifest_.step; }
  const std::string& state() const { return state_; }
  const std::vector<CheckpointTensor>& tensors() const { return tensors_; }
  const std::string& folder() const { return folder_; }
  const std::vector<SkippedCheckpoint>& skipped() const { return skipped_; }

  absl::Status Read(const std::vector<CheckpointSlice>& slices) const {
    if (absl::Status wrong = CheckSlices(slices); !wrong.ok()) return wrong;
    // Key: index of a shard in the manifest's list of files; value: the reads
    // from this shard.
    std::map<int, std::vector<ShardRead>> reads;
    for (const CheckpointSlice& slice : slices) {
      const auto at = by_name_.find(slice.tensor.name);
      if (at == by_name_.end()) {
        return absl::NotFoundError(
            absl::StrCat(folder_, " has no ", Describe(slice.tensor)));
      }
      const StoredTensor& stored = *at->second;
      if (stored.tensor != slice.tensor) {
        return absl::FailedPreconditionError(
            absl::StrCat(folder_, " has ", Describe(stored.tensor), ", not ",
                         Describe(slice.tensor)));
      }
      AddReads(stored, slice, &reads);
    }
    for (const auto& [file, list] : reads) {
      absl::Status status = ReadShard(
          files_, folder_, manifest_.files[static_cast<size_t>(file)], list);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  static void AddReads(const StoredTensor& stored, const CheckpointSlice& slice,
                       std::map<int, std::vector<ShardRead>>* reads) {
    const int64_t size = SizeOf(slice.tensor.dtype);
    auto part = std::partition_point(
        stored.parts.begin(), stored.parts.end(),
        [&](const TensorPart& p) { return p.end <= slice.begin; });
    for (; part != stored.parts.end() && part->begin < slice.end; ++part) {
      const int64_t begin = std::max(slice.begin, part->begin);
      const int64_t end = std::min(slice.end, part->end);
      (*reads)[part->file].push_back(
          {.stored = {slice.tensor, part->begin, part->end},
           .offset = (begin - part->begin) * size,
           .bytes = (end - begin) * size,
           .out =
               static_cast<char*>(slice.data) + (begin - slice.begin) * size});
    }
  }

  FileSystem& files_;
  const std::string folder_;
  const Manifest manifest_;
  const std::string state_;
  const std::vector<SkippedCheckpoint> skipped_;
  std::map<std::string, const StoredTensor*> by_name_;
  std::vector<CheckpointTensor> tensors_;
};

absl::Status CheckpointOpening::Verify(FileSystem& files,
                                       const std::string& folder,
                                       const Manifest& manifest, int rank,
                                       int ranks) {
  for (size_t i = static_cast<size_t>(rank); i < manifest.files.size();
       i += static_cast<size_t>(ranks)) {
    absl::Status status = VerifyFile(files, folder, manifest.files[i]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CheckpointReader>> CheckpointOpening::Make(
    FileSystem& files, const std::string& folder, Manifest manifest,
    std::vector<SkippedCheckpoint> skipped) {
  const auto record =
      std::find_if(manifest.files.begin(), manifest.files.end(),
                   [](const FileRecord& f) { return f.name == kStateFile; });
  const std::string path = absl::StrCat(folder, "/", kStateFile);
  absl::StatusOr<std::string> state =
      ReadWholeFile(files, path, kMaxStateBytes);
  if (!state.ok()) return state.status();
  Checksum checksum;
  checksum.Add(*state);
  if (checksum.value() != record->checksum) {
    return absl::DataLossError(absl::StrCat(path, " has changed"));
  }
  return std::unique_ptr<CheckpointReader>(
      new CheckpointReader(std::make_unique<CheckpointReader::Body>(
          files, folder, std::move(manifest), *std::move(state),
          std::move(skipped))));
}

bool CheckpointOpening::IsBroken(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsInternal(status);
}

absl::Status CheckpointOpening::NoneIsWhole(
    const std::string& directory,
    const std::vector<SkippedCheckpoint>& skipped) {
  if (skipped.empty()) {
    return absl::NotFoundError(
        absl::StrCat("there is no checkpoint in ", directory));
  }
  std::string text = absl::StrCat("no checkpoint in ", directory, " is whole");
  for (const SkippedCheckpoint& one : skipped) {
    absl::StrAppend(&text, "; ", one.folder, ": ", one.reason);
  }
  return absl::DataLossError(text);
}

absl::StatusOr<std::unique_ptr<CheckpointReader>> CheckpointReader::OpenNewest(
    const std::string& directory, FileSystem* file_system) {
  FileSystem& files = Or(file_system);
  auto entries = ListCheckpoints(files, directory);
  if (!entries.ok()) return entries.status();
  std::vector<SkippedCheckpoint> skipped;
  for (CheckpointEntry& entry : *entries) {
    const std::string folder = absl::StrCat(directory, "/", entry.name);
    absl::Status status = entry.manifest.status();
    if (status.ok()) {
      status = CheckpointOpening::Verify(files, folder, *entry.manifest, 0, 1);
    }
    if (status.ok()) {
      return CheckpointOpening::Make(files, folder, *std::move(entry.manifest),
                                     std::move(skipped));
    }
    if (!CheckpointOpening::IsBroken(status)) return status;
    skipped.push_back({folder, std::string(status.message())});
  }
  return CheckpointOpening::NoneIsWhole(directory, skipped);
}

absl::StatusOr<std::unique_ptr<CheckpointReader>> CheckpointReader::Open(
    const std::string& directory, int64_t step, FileSystem* file_system) {
  FileSystem& files = Or(file_system);
  auto entries = ListCheckpoints(files, directory);
  if (!entries.ok()) return entries.status();
  absl::Status unreadable = absl::NotFoundError(
      absl::StrCat("there is no checkpoint of step ", step, " in ", directory));
  for (CheckpointEntry& entry : *entries) {
    // Skip checkpoints of other steps. The entries are sorted, the last saved
    // one first. So if `step` was saved several times, the last of these saves
    // is opened.
    if (entry.folder.step != step) continue;
    if (!entry.manifest.ok()) {
      unreadable = entry.manifest.status();
      continue;
    }
    const std::string folder = absl::StrCat(directory, "/", entry.name);
    absl::Status status =
        CheckpointOpening::Verify(files, folder, *entry.manifest, 0, 1);
    if (!status.ok()) return status;
    return CheckpointOpening::Make(files, folder, *std::move(entry.manifest),
                                   {});
  }
  return unreadable;
}

CheckpointReader::CheckpointReader(std::unique_ptr<Body> body)
    : body_(std::move(body)) {}
CheckpointReader::~CheckpointReader() = default;

int64_t CheckpointReader::step() const { return body_->step(); }
const std::string& CheckpointReader::state() const { return body_->state(); }
const std::vector<CheckpointTensor>& CheckpointReader::tensors() const {
  return body_->tensors();
}
const std::string& CheckpointReader::folder() const { return body_->folder(); }
const std::vector<SkippedCheckpoint>& CheckpointReader::skipped() const {
  return body_->skipped();
}
absl::Status CheckpointReader::Read(
    const std::vector<CheckpointSlice>& slices) const {
  return body_->Read(slices);
}

namespace {

// Rank 0's message to the other ranks: the names of the checkpoints in the
// directory, the newest first.
RankMessage Candidates(FileSystem& files, const std::string& directory) {
  RankMessage message;
  const auto entries = ListCheckpoints(files, directory);
  if (!entries.ok()) return {entries.status(), ""};
  for (const CheckpointEntry& entry : *entries) {
    AppendString(entry.name, &message.bytes);
  }
  return message;
}

// Verifies this rank's part of the checkpoint in `folder`, and returns a
// message to the other ranks: the result and the checkpoint's serial number.
// Also reads the manifest into `manifest`.
RankMessage VerifyCheckpoint(FileSystem& files, const std::string& folder,
                             ProcessGroup& group,
                             absl::StatusOr<Manifest>* manifest) {
  RankMessage message;
  *manifest = ReadManifest(files, folder);
  message.status = manifest->status();
  if (!message.status.ok()) return message;
  message.status = CheckpointOpening::Verify(files, folder, **manifest,
                                             group.rank(), group.size());
  AppendInteger<int64_t>((*manifest)->serial, &message.bytes);
  return message;
}

// Returns OK if every rank found the checkpoint intact and all ranks saw the
// same manifest. If a rank failed, returns the error of the first rank that
// failed. If only the manifests differ, returns DataLoss, which names the first
// rank whose manifest is not that of rank 0.
absl::Status Finding(const std::vector<RankMessage>& messages) {
  if (absl::Status failure = FirstFailureOf(messages); !failure.ok()) {
    return failure;
  }
  for (size_t rank = 1; rank < messages.size(); ++rank) {
    if (messages[rank].bytes == messages[0].bytes) continue;
    return absl::DataLossError(
        absl::StrCat("rank ", rank, " sees another manifest than rank 0"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<CheckpointReader>> OpenNewestTogether(
    ProcessGroup& group, const std::string& directory, FileSystem* file_system,
    CallOptions call) {
  FileSystem& files = file_system != nullptr ? *file_system : Disk();
  RankMessage mine;
  if (group.rank() == 0) mine = Candidates(files, directory);
  auto messages = Exchange(group, mine, call);
  if (!messages.ok()) return messages.status();
  const RankMessage& seen = messages->front();
  if (!seen.status.ok()) return seen.status;
  std::vector<SkippedCheckpoint> skipped;
  for (MessageReader names(seen.bytes); !names.at_end();) {
    const std::string folder =
        absl::StrCat(directory, "/", std::string(names.Text()));
    absl::StatusOr<Manifest> manifest;
    const auto verdicts = Exchange(
        group, VerifyCheckpoint(files, folder, group, &manifest), call);
    if (!verdicts.ok()) return verdicts.status();
    absl::Status status = Finding(*verdicts);
    if (status.ok()) {
      // Each rank reads the checkpoint's state string (the file kStateFile),
      // which is small. The ranks then exchange the results of this read, so
      // that all of them open this checkpoint or none does.
      auto reader =
          CheckpointOpening::Make(files, folder, *std::move(manifest), skipped);
      const auto opened = Exchange(group, {reader.status(), ""}, call);
      if (!opened.ok()) return opened.status();
      status = Finding(*opened);
      if (status.ok()) return reader;
    }
    if (!CheckpointOpening::IsBroken(status)) return status;
    skipped.push_back({folder, std::string(status.message())});
  }
  return CheckpointOpening::NoneIsWhole(directory, skipped);
}

absl::Status ReadTogether(ProcessGroup& group, const CheckpointReader& reader,
                          const std::vector<CheckpointSlice>& slices,
                          CallOptions call) {
  absl::Status status = CheckSlices(slices);
  RankMessage mine = {status, status.ok() ? WriteRanges(RangesOf(slices)) : ""};
  auto messages = Exchange(group, mine, call);
  if (!messages.ok()) return messages.status();
  if (status = FirstFailureOf(*messages); !status.ok()) return status;
  std::vector<std::vector<SliceRange>> ranks;
  for (const RankMessage& message : *messages) {
    auto ranges = ReadRanges(message.bytes);
    if (!ranges.ok()) return ranges.status();
    ranks.push_back(*std::move(ranges));
  }
  // The ranks exchange read errors before they check that every element is
  // read, because a read error tells more about the cause than a missing
  // element.
  messages = Exchange(group, {reader.Read(slices), ""}, call);
  if (!messages.ok()) return messages.status();
  if (status = FirstFailureOf(*messages); !status.ok()) return status;
  const auto plan = PlanShares(ranks);
  if (!plan.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the ranks do not ask for all of ", reader.folder(), ": ",
                     plan.status().message()));
  }
  for (const CheckpointTensor& tensor : reader.tensors()) {
    if (std::find(plan->tensors.begin(), plan->tensors.end(), tensor) ==
        plan->tensors.end()) {
      return absl::FailedPreconditionError(
          absl::StrCat(reader.folder(), " has ", Describe(tensor),
                       ", which no rank asks for"));
    }
  }
  return absl::OkStatus();
}

}  // namespace muster
