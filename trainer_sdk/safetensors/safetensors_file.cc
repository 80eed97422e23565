#include "trainer_sdk/safetensors/safetensors_file.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "trainer_sdk/files/file_system.h"

namespace muster {
namespace {

absl::Status At(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(path, ": ", status.message()));
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

absl::Status WriteAll(FileSystem& files, const std::string& path,
                      const std::string& header,
                      const SafetensorsHeader& places,
                      const std::map<std::string, const void*>& data) {
  auto file = files.CreateFile(path);
  if (!file.ok()) return file.status();
  absl::Status status = (*file)->Append(header);
  for (const SafetensorsTensor& tensor : places.tensors) {
    if (!status.ok() || tensor.bytes() == 0) continue;
    status = (*file)->Append(
        std::string_view(static_cast<const char*>(data.at(tensor.name)),
                         static_cast<size_t>(tensor.bytes())));
  }
  return status.ok() ? (*file)->Sync() : status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SafetensorsFile>> SafetensorsFile::Open(
    const std::string& path, FileSystem* files) {
  auto file = (files != nullptr ? *files : Disk()).OpenFile(path);
  if (!file.ok()) return file.status();
  const int64_t size = (*file)->size();
  std::string bytes(
      static_cast<size_t>(std::min(size, kSafetensorsLengthBytes)), '\0');
  absl::Status status =
      (*file)->ReadAt(0, static_cast<int64_t>(bytes.size()), bytes.data());
  if (!status.ok()) return status;
  const absl::StatusOr<int64_t> length = SafetensorsHeaderBytes(bytes, size);
  if (!length.ok()) return At(path, length.status());
  bytes.resize(static_cast<size_t>(*length));
  status = (*file)->ReadAt(kSafetensorsLengthBytes, *length, bytes.data());
  if (!status.ok()) return status;
  const int64_t data_at = kSafetensorsLengthBytes + *length;
  auto header = ParseSafetensorsHeader(bytes, size - data_at);
  if (!header.ok()) return At(path, header.status());
  return std::unique_ptr<SafetensorsFile>(
      new SafetensorsFile(*std::move(file), data_at, *std::move(header)));
}

absl::Status SafetensorsFile::ReadAt(const SafetensorsTensor& tensor,
                                     int64_t offset, int64_t bytes,
                                     void* out) const {
  MUSTER_CHECK(offset >= 0 && bytes >= 0 && bytes <= tensor.bytes() - offset)
      << "bytes outside of a tensor";
  return file_->ReadAt(data_at_ + tensor.begin + offset, bytes, out);
}

absl::Status WriteSafetensorsFile(
    const std::string& path, const std::vector<SafetensorsData>& tensors,
    const std::map<std::string, std::string>& metadata, FileSystem* files) {
  FileSystem& disk = files != nullptr ? *files : Disk();
  SafetensorsHeader header = {.metadata = metadata};
  std::map<std::string, const void*> data;
  for (const SafetensorsData& tensor : tensors) {
    header.tensors.push_back(
        {.name = tensor.name, .type = tensor.type, .shape = tensor.shape});
    data.emplace(tensor.name, tensor.data);
  }
  if (absl::Status wrong = PlaceSafetensors(&header.tensors); !wrong.ok()) {
    return At(path, wrong);
  }
  const auto bytes = WriteSafetensorsHeader(header);
  if (!bytes.ok()) return At(path, bytes.status());
  const std::string part = path + ".part";
  absl::Status status = disk.Remove(part);
  if (status.ok()) status = WriteAll(disk, part, *bytes, header, data);
  if (status.ok()) status = disk.Rename(part, path);
  if (!status.ok()) {
    disk.Remove(part).IgnoreError();
    return status;
  }
  return disk.SyncFolder(FolderOf(path));
}

}  // namespace muster
