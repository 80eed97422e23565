#ifndef MUSTER_TRAINER_SDK_SAFETENSORS_SAFETENSORS_FILE_H_
#define MUSTER_TRAINER_SDK_SAFETENSORS_SAFETENSORS_FILE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/files/file_system.h"
#include "trainer_sdk/safetensors/safetensors_header.h"

namespace muster {

// A safetensors file opened for reading. Thread-safe.
class SafetensorsFile {
 public:
  // Opens a file, and reads and checks its header. `files` must outlive the
  // object; null: the file systems of the machine (Disk()). NotFound: no such
  // file. DataLoss: the header is invalid; the message is the path, then
  // ParseSafetensorsHeader's message.
  static absl::StatusOr<std::unique_ptr<SafetensorsFile>> Open(
      const std::string& path, FileSystem* files = nullptr);

  const SafetensorsHeader& header() const { return header_; }

  // Read reads a whole tensor into `out`, ReadAt a range of its bytes. Errors
  // are those of InputFile::ReadAt.
  absl::Status Read(const SafetensorsTensor& tensor, void* out) const {
    return ReadAt(tensor, 0, tensor.bytes(), out);
  }
  absl::Status ReadAt(const SafetensorsTensor& tensor, int64_t offset,
                      int64_t bytes, void* out) const;

 private:
  SafetensorsFile(std::unique_ptr<InputFile> file, int64_t data_at,
                  SafetensorsHeader header)
      : file_(std::move(file)), data_at_(data_at), header_(std::move(header)) {}

  const std::unique_ptr<InputFile> file_;
  const int64_t data_at_;
  const SafetensorsHeader header_;
};

// A tensor to be written to a file.
struct SafetensorsData {
  std::string name;
  SafetensorsType type = SafetensorsType::kF32;
  std::vector<int64_t> shape;
  const void* data = nullptr;
};

// Writes a safetensors file atomically: if the call fails or the process dies,
// a previous file at `path` stays unchanged. PyTorch's loaders require the
// metadata {"format": "pt"}. Errors are those of PlaceSafetensors,
// WriteSafetensorsHeader and the file system.
absl::Status WriteSafetensorsFile(
    const std::string& path, const std::vector<SafetensorsData>& tensors,
    const std::map<std::string, std::string>& metadata,
    FileSystem* files = nullptr);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SAFETENSORS_SAFETENSORS_FILE_H_
