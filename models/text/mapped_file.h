#ifndef MUSTER_MODELS_TEXT_MAPPED_FILE_H_
#define MUSTER_MODELS_TEXT_MAPPED_FILE_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace muster::models {

// A file mapped into memory, so that a text may be larger than the memory. If
// the file is truncated while it is mapped, an access kills the process.
class MappedFile {
 public:
  // Maps the file. NotFound: the file cannot be read; the message gives the
  // reason. An empty file is valid.
  static absl::StatusOr<MappedFile> Open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::string_view bytes) : bytes_(bytes) {}

  std::string_view bytes_;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_TEXT_MAPPED_FILE_H_
