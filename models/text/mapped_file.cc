#include "models/text/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/owned_fd.h"

namespace muster::models {
namespace {

absl::Status Unreadable(const std::string& path, const char* why) {
  return absl::NotFoundError(absl::StrCat("cannot read '", path, "': ", why));
}

}  // namespace

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  // Without O_NONBLOCK, opening a named pipe would block.
  const OwnedFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts = {};
  if (!file.open() || fstat(file.get(), &facts) != 0) {
    return Unreadable(path, std::strerror(errno));
  }
  if (!S_ISREG(facts.st_mode)) return Unreadable(path, "it is not a file");
  const auto bytes = static_cast<size_t>(facts.st_size);
  // An empty file cannot be mapped.
  if (bytes == 0) return MappedFile(std::string_view());
  void* const data = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
  if (data == MAP_FAILED) return Unreadable(path, std::strerror(errno));
  return MappedFile(std::string_view(static_cast<const char*>(data), bytes));
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace muster::models
