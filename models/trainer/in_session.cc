#include "models/trainer/in_session.h"

#include <new>
#include <string>

#include "absl/strings/str_cat.h"

namespace muster::models {

absl::Status InSession(const std::function<absl::Status(Session&)>& train) {
  const auto session = Session::FromEnvironment();
  if (!session.ok()) return session.status();
  absl::Status status = train(**session);
  if (status.ok()) return status;
  // Some errors begin with the rank already.
  const std::string rank = absl::StrCat("rank ", (*session)->rank());
  if (status.message().substr(0, rank.size()) == rank) return status;
  return absl::Status(status.code(),
                      absl::StrCat(rank, ": ", status.message()));
}

absl::Status WithinMemory(const std::function<absl::Status()>& command) {
  try {
    return command();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        "out of memory: a smaller --batch, --context, --width or --layers, or "
        "--recompute");
  }
}

}  // namespace muster::models
