#ifndef MUSTER_MODELS_TEXT_MAPPED_FILE_H_
#define MUSTER_MODELS_TEXT_MAPPED_FILE_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace muster {

// A file's bytes, mapped: reading a text that is larger than the memory needs
// none. A file that is cut short meanwhile ends the process.
class MappedFile {
 public:
  // NotFound: it cannot be read, and why. An empty file is read.
  static absl::StatusOr<MappedFile> Open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::string_view bytes) : bytes_(bytes) {}

  std::string_view bytes_;
};

}  // namespace muster

#endif  // MUSTER_MODELS_TEXT_MAPPED_FILE_H_
