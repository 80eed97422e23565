#include "agent/preemption/preemption_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "agent/guardian/socket_folder.h"
#include "base/owned_fd.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::agent {

std::string PreemptionLine(const rendezvous::PreemptionNotice& notice) {
  const nlohmann::ordered_json line = {
      {"signal", rendezvous::SignalName(notice.signal)},
      {"host", notice.host},
      {"grace_s", ToSeconds(notice.left)}};
  // A host's name may contain bytes that are not UTF-8.
  return line.dump(-1, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

PreemptionFile::~PreemptionFile() {
  if (!path_.empty()) unlink(path_.c_str());
}

void PreemptionFile::PutInto(const std::string& folder) {
  path_ = folder.empty() ? "" : absl::StrCat(folder, "/", kFileAmongSockets);
}

absl::Status PreemptionFile::Write(const rendezvous::PreemptionNotice& notice) {
  if (path_.empty()) return absl::OkStatus();
  // Written under another name and renamed, so that readers see the whole file
  // or none.
  const std::string draft = path_ + ".new";
  const std::string line = PreemptionLine(notice);
  bool written = false;
  {
    const OwnedFd file(
        open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    written = file.open() && write(file.get(), line.data(), line.size()) ==
                                 static_cast<ssize_t>(line.size());
  }
  if (written && rename(draft.c_str(), path_.c_str()) == 0) {
    return absl::OkStatus();
  }
  const int error = errno;
  unlink(draft.c_str());
  return absl::UnavailableError(
      absl::StrCat("workers do not find the notice of the preemption in ",
                   path_, ": ", std::strerror(error)));
}

}  // namespace muster::agent
