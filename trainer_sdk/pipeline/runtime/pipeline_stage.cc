#include "trainer_sdk/pipeline/runtime/pipeline_stage.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace muster {

std::string ToString(const StreamShape& shape) {
  return absl::StrCat(Name(shape.dtype), "[", absl::StrJoin(shape.sizes, ", "),
                      "]");
}

}  // namespace muster
