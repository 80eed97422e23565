#include "trainer_sdk/checkpoint/checkpoint_files.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/checksum.h"

namespace muster {
namespace {

// The data is hashed and written in chunks of this size in bytes: small enough
// that a chunk is still in the cache when it is written.
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

}  // namespace muster
