#include "trainer_sdk/checkpoint/checkpoint_folders.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/checksum.h"

namespace muster {
namespace {

// Data is hashed and written in chunks of this size in bytes. A chunk is so
// small that it is still in the processor's cache when it is written after
// hashing.
constexpr int64_t kChunkBytes = 1 << 20;

}  // namespace

absl::StatusOr<FileRecord> WriteRecordedFile(
    FileSystem& files, const std::string& folder, const std::string& name,
    const std::vector<std::string_view>& pieces) {
  auto file = files.CreateFile(absl::StrCat(folder, "/", name));
  if (!file.ok()) return file.status();
  FileRecord record = {.name = name};
  Checksum checksum;
  for (std::string_view piece : pieces) {
    while (!piece.empty()) {
      const std::string_view chunk = piece.substr(0, kChunkBytes);
      checksum.Add(chunk);
      if (absl::Status status = (*file)->Append(chunk); !status.ok()) {
        return status;
      }
      record.bytes += static_cast<int64_t>(chunk.size());
      piece.remove_prefix(chunk.size());
    }
  }
  if (absl::Status status = (*file)->Sync(); !status.ok()) return status;
  record.checksum = checksum.value();
  return record;
}

absl::Status VerifyFile(FileSystem& files, const std::string& folder,
                        const FileRecord& record) {
  const std::string path = absl::StrCat(folder, "/", record.name);
  const auto file = files.OpenFile(path);
  if (absl::IsNotFound(file.status())) {
    return absl::DataLossError(file.status().message());
  }
  if (!file.ok()) return file.status();
  if ((*file)->size() != record.bytes) {
    return absl::DataLossError(absl::StrCat(path, " has ", (*file)->size(),
                                            " bytes, not the ", record.bytes,
                                            " that were written"));
  }
  Checksum checksum;
  std::string chunk(static_cast<size_t>(std::min(kChunkBytes, record.bytes)),
                    '\0');
  for (int64_t at = 0; at < record.bytes;) {
    const int64_t bytes = std::min(kChunkBytes, record.bytes - at);
    absl::Status status = (*file)->ReadAt(at, bytes, chunk.data());
    if (!status.ok()) return status;
    checksum.Add(std::string_view(chunk).substr(0, static_cast<size_t>(bytes)));
    at += bytes;
  }
  if (checksum.value() != record.checksum) {
    return absl::DataLossError(
        absl::StrCat(path, " has the checksum ", ChecksumText(checksum.value()),
                     ", not the ", ChecksumText(record.checksum),
                     " of what was written: a bit has changed"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadWholeFile(FileSystem& files,
                                          const std::string& path,
                                          int64_t most) {
  const auto file = files.OpenFile(path);
  if (!file.ok()) return file.status();
  if ((*file)->size() > most) {
    return absl::DataLossError(absl::StrCat(
        path, " has ", (*file)->size(), " bytes; at most ", most, " are read"));
  }
  std::string bytes(static_cast<size_t>((*file)->size()), '\0');
  absl::Status status = (*file)->ReadAt(0, (*file)->size(), bytes.data());
  if (!status.ok()) return status;
  return bytes;
}

absl::StatusOr<Manifest> ReadManifest(FileSystem& files,
                                      const std::string& folder) {
  const std::string path = absl::StrCat(folder, "/", kManifestFile);
  const auto bytes = ReadWholeFile(files, path, kMaxManifestBytes);
  if (absl::IsNotFound(bytes.status())) {
    return absl::DataLossError(bytes.status().message());
  }
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<Manifest> manifest = ParseManifest(*bytes);
  if (!manifest.ok()) {
    return absl::Status(manifest.status().code(),
                        absl::StrCat(path, ": ", manifest.status().message()));
  }
  return manifest;
}

namespace {

constexpr std::string_view kStep = "step-";
// Prefixes of the names of unfinished checkpoints (kWriting), of checkpoints
// that are being removed (kRemoving) and of marker files (kMarker). Readers of
// checkpoints ignore these names.
constexpr std::string_view kWriting = ".writing-";
constexpr std::string_view kRemoving = ".removing-";
constexpr std::string_view kMarker = ".seen-";

bool BeginsWith(std::string_view name, std::string_view beginning) {
  return name.substr(0, beginning.size()) == beginning;
}

std::string Join(const std::string& folder, const std::string& name) {
  return absl::StrCat(folder, "/", name);
}

std::string Text(std::string_view view) { return std::string(view); }

// A sort key that is higher for newer checkpoints. An entry without a readable
// manifest sorts above all others, because it may be the newest.
auto Age(const CheckpointEntry& entry) {
  return std::tuple(entry.manifest.ok() ? 0 : 1,
                    entry.manifest.ok() ? entry.manifest->serial : 0,
                    entry.folder.step, entry.folder.attempt);
}

// Checks that the files of `entry` match its manifest, which must be readable.
// `whole`: the checkpoints that are known to be intact; their files are not
// read again. If the files match, adds `entry` to `whole`.
absl::Status FindWhole(FileSystem& files, const std::string& directory,
                       const CheckpointEntry& entry, WholeCheckpoints& whole) {
  const WholeCheckpoints::value_type key(entry.name, entry.manifest->serial);
  if (whole.contains(key)) return absl::OkStatus();
  for (const FileRecord& record : entry.manifest->files) {
    const absl::Status status =
        VerifyFile(files, Join(directory, entry.name), record);
    if (!status.ok()) return status;
  }
  whole.insert(key);
  return absl::OkStatus();
}

}  // namespace

std::string NameOf(StepFolder folder) {
  const std::string name = absl::StrFormat("step-%08d", folder.step);
  return folder.attempt == 1 ? name : absl::StrCat(name, ".", folder.attempt);
}

std::optional<StepFolder> StepFolderOf(std::string_view name) {
  if (!BeginsWith(name, kStep)) return std::nullopt;
  StepFolder folder;
  const char* const end = name.data() + name.size();
  auto read = std::from_chars(name.data() + kStep.size(), end, folder.step);
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == '.') {
    read = std::from_chars(read.ptr + 1, end, folder.attempt);
  }
  // Only the exact name that NameOf gives to a folder is accepted. "step-7"
  // (too few digits) and "step-00000007.1" (the first attempt has no suffix)
  // are rejected.
  if (read.ec != std::errc() || read.ptr != end || folder.step < 0 ||
      folder.attempt < 1 || NameOf(folder) != name) {
    return std::nullopt;
  }
  return folder;
}

absl::StatusOr<std::vector<CheckpointEntry>> ListCheckpoints(
    FileSystem& files, const std::string& directory) {
  const absl::StatusOr<std::vector<std::string>> names = files.List(directory);
  if (!names.ok()) return names.status();
  std::vector<CheckpointEntry> entries;
  for (const std::string& name : *names) {
    const std::optional<StepFolder> folder = StepFolderOf(name);
    if (!folder) continue;
    absl::StatusOr<Manifest> manifest =
        ReadManifest(files, Join(directory, name));
    if (manifest.ok() && manifest->step != folder->step) {
      manifest = absl::DataLossError(absl::StrCat(
          Join(directory, name), " has the manifest of step ", manifest->step));
    }
    entries.push_back({name, *folder, std::move(manifest)});
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return Age(a) > Age(b); });
  return entries;
}

absl::StatusOr<std::string> BeginCheckpoint(FileSystem& files,
                                            const std::string& directory,
                                            int64_t step,
                                            const std::string& nonce) {
  const std::string path =
      Join(directory,
           absl::StrCat(Text(kWriting), NameOf({.step = step}), "-", nonce));
  if (absl::Status made = files.CreateFolder(path); !made.ok()) return made;
  return path;
}

absl::StatusOr<std::string> CommitCheckpoint(FileSystem& files,
                                             const std::string& directory,
                                             const std::string& writing,
                                             Manifest manifest) {
  for (const FileRecord& record : manifest.files) {
    const auto file = files.OpenFile(Join(writing, record.name));
    if (!file.ok() || (*file)->size() != record.bytes) {
      return absl::FailedPreconditionError(
          absl::StrCat("rank 0 does not see the ", record.bytes, " bytes of ",
                       Join(writing, record.name),
                       ", which were written: do all ranks "
                       "reach the same folder by this path?"));
    }
  }
  const auto entries = ListCheckpoints(files, directory);
  if (!entries.ok()) return entries.status();
  manifest.serial = 1;
  std::set<std::string> taken;
  for (const CheckpointEntry& entry : *entries) {
    taken.insert(entry.name);
    if (!entry.manifest.ok()) continue;
    manifest.serial = std::max(manifest.serial, entry.manifest->serial + 1);
  }
  const std::string text = WriteManifest(manifest);
  if (static_cast<int64_t>(text.size()) > kMaxManifestBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a manifest of ", text.size(), " bytes for ", manifest.tensors.size(),
        " tensors; at most ", kMaxManifestBytes));
  }
  const auto written = WriteRecordedFile(files, writing, kManifestFile, {text});
  if (!written.ok()) return written.status();
  // The names of the files must be on the disk before the folder is renamed.
  // Otherwise a crash could leave a folder with the final name but without its
  // files.
  if (absl::Status status = files.SyncFolder(writing); !status.ok()) {
    return status;
  }
  StepFolder folder = {.step = manifest.step};
  while (taken.contains(NameOf(folder))) ++folder.attempt;
  const std::string path = Join(directory, NameOf(folder));
  if (absl::Status status = files.Rename(writing, path); !status.ok()) {
    return status;
  }
  // The folder's new name must be on the disk before the caller removes an
  // older checkpoint.
  if (absl::Status status = files.SyncFolder(directory); !status.ok()) {
    return status;
  }
  return path;
}

void PruneCheckpoints(FileSystem& files, const std::string& directory,
                      const std::string& newest, int keep,
                      WholeCheckpoints& whole) {
  const auto entries = ListCheckpoints(files, directory);
  if (!entries.ok()) return;
  const auto readable = std::count_if(
      entries->begin(), entries->end(),
      [](const CheckpointEntry& entry) { return entry.manifest.ok(); });
  // number of checkpoints found so far that count towards `keep`, `newest`
  // included
  int kept = 1;
  for (const CheckpointEntry& entry : *entries) {
    absl::Status status = entry.manifest.status();
    if (entry.name == newest) {
      if (status.ok()) whole.emplace(entry.name, entry.manifest->serial);
      continue;
    }
    // Read the files of a checkpoint only if more than `keep` checkpoints have
    // a readable manifest. Otherwise all checkpoints with a readable manifest
    // stay, intact or not.
    if (status.ok() && kept < keep && readable > keep) {
      status = FindWhole(files, directory, entry, whole);
    }
    if (status.ok() && kept < keep) {
      ++kept;
      continue;
    }
    // An error other than DataLoss means that this process or this version
    // cannot read the checkpoint now. Keep the checkpoint, because it may be
    // intact.
    if (!status.ok() && !absl::IsDataLoss(status)) continue;
    // The checkpoint is renamed before it is removed, so that no process opens
    // a half-removed checkpoint.
    const std::string removing =
        Join(directory, absl::StrCat(Text(kRemoving), entry.name));
    if (!files.Remove(removing).ok() ||
        !files.Rename(Join(directory, entry.name), removing).ok()) {
      continue;
    }
  }
  const auto names = files.List(directory);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (!BeginsWith(name, kRemoving)) continue;
    // The removal fails if an NFS client on another host has one of the files
    // open; a later call tries again.
    files.Remove(Join(directory, name)).IgnoreError();
  }
}

absl::StatusOr<std::vector<std::string>> ClearLeftovers(
    FileSystem& files, const std::string& directory) {
  const auto names = files.List(directory);
  if (!names.ok()) return names.status();
  std::vector<std::string> left;
  for (const std::string& name : *names) {
    if (!BeginsWith(name, kWriting) && !BeginsWith(name, kRemoving) &&
        !BeginsWith(name, kMarker)) {
      continue;
    }
    const std::string path = Join(directory, name);
    const absl::Status removed = files.Remove(path);
    if (removed.ok()) continue;
    left.push_back(absl::StrCat(path, " is left over: ", removed.message()));
  }
  return left;
}

std::string MarkerName(const std::string& nonce) {
  return absl::StrCat(Text(kMarker), nonce);
}

}  // namespace muster
