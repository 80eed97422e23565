#include "trainer_sdk/process_group/group_error.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace muster {

absl::Status NamedAfter(const GroupPlace& place, const absl::Status& status) {
  return absl::Status(
      status.code(),
      absl::StrCat("group ", place.name, ": ", std::string(status.message())));
}

}  // namespace muster
