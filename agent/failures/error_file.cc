#include "agent/failures/error_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "base/bounded_file.h"
#include "base/owned_fd.h"

namespace muster::agent {
namespace {

using Json = nlohmann::json;

// The maximum depth of JSON that is read; the files of torchrun's @record have
// four levels.
constexpr int kMaxDepth = 16;

const Json* Member(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::string Text(const Json* value) {
  if (value == nullptr || value->is_null()) return "";
  if (value->is_string()) return value->get<std::string>();
  return value->dump(-1, ' ', false, Json::error_handler_t::replace);
}

double Time(const Json* value) {
  if (value == nullptr) return 0;
  double time = 0;
  if (value->is_number()) {
    time = value->get<double>();
  } else if (value->is_string()) {
    const std::string text = value->get<std::string>();
    std::from_chars(text.data(), text.data() + text.size(), time);
  }
  return std::isfinite(time) && time > 0 ? time : 0;
}

// The time of an error in seconds since 1970. `told` is the time in the error
// file, which @record writes in whole seconds. `written` is the file's
// modification time. If `written` is less than two seconds later than `told`,
// returns `written`, because it is more exact. Otherwise returns `told`.
double ExactTime(double told, double written) {
  const bool fits = told > 0 && std::floor(told) == told && written >= told &&
                    written < told + 2;
  return fits ? written : told;
}

absl::Status Wrong(absl::StatusCode code, const std::string& path,
                   const std::string& what) {
  return absl::Status(code, "the error file " + path + " " + what);
}

}  // namespace

absl::StatusOr<ErrorFile> ParseErrorFile(std::string_view json) {
  // Cuts the JSON tree at a maximum depth, so that deeply nested input does no
  // harm. The parser itself is not recursive.
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    return depth <= kMaxDepth;
  };
  const Json root = Json::parse(json.begin(), json.end(), shallow,
                                /*allow_exceptions=*/false);
  if (root.is_discarded()) {
    return absl::InvalidArgumentError("holds no valid JSON");
  }
  const Json* message = Member(root, "message");
  if (message == nullptr) {
    return absl::InvalidArgumentError("holds no \"message\"");
  }
  ErrorFile file;
  if (message->is_object()) {
    file.message = Text(Member(*message, "message"));
    const Json* extra = Member(*message, "extraInfo");
    if (extra != nullptr) {
      file.traceback = Text(Member(*extra, "py_callstack"));
      file.unix_time = Time(Member(*extra, "timestamp"));
    }
  } else {
    // The field "message" may be plain text instead of an object: in older
    // versions of PyTorch, and in all versions for a child that died by a
    // signal.
    file.message = Text(message);
    file.unix_time = Time(Member(root, "timestamp"));
  }
  if (file.message.empty() && file.traceback.empty()) {
    return absl::InvalidArgumentError("says nothing in its \"message\"");
  }
  return file;
}

absl::StatusOr<ErrorFile> ReadErrorFile(const std::string& path) {
  // With O_NONBLOCK, open does not block even if a worker has put a named pipe
  // at `path`.
  const OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.open()) {
    const auto code = errno == ENOENT ? absl::StatusCode::kNotFound
                                      : absl::StatusCode::kInvalidArgument;
    return Wrong(code, path,
                 std::string("cannot be read: ") + std::strerror(errno));
  }
  struct stat about = {};
  if (fstat(fd.get(), &about) != 0 || !S_ISREG(about.st_mode)) {
    return Wrong(absl::StatusCode::kInvalidArgument, path, "is no file");
  }
  const absl::StatusOr<std::string> content =
      ReadAtMost(fd.get(), kMaxErrorFileBytes + 1);
  if (!content.ok()) {
    return Wrong(absl::StatusCode::kInvalidArgument, path,
                 "cannot be read: " + std::string(content.status().message()));
  }
  if (content->size() > kMaxErrorFileBytes) {
    return Wrong(
        absl::StatusCode::kResourceExhausted, path,
        "is longer than " + std::to_string(kMaxErrorFileBytes) + " bytes");
  }
  absl::StatusOr<ErrorFile> file = ParseErrorFile(*content);
  if (file.ok()) {
    file->unix_time = ExactTime(
        file->unix_time, static_cast<double>(about.st_mtim.tv_sec) +
                             static_cast<double>(about.st_mtim.tv_nsec) / 1e9);
    return file;
  }
  return Wrong(file.status().code(), path,
               std::string(file.status().message()));
}

}  // namespace muster::agent
