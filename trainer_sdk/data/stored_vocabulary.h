#ifndef MUSTER_TRAINER_SDK_DATA_STORED_VOCABULARY_H_
#define MUSTER_TRAINER_SDK_DATA_STORED_VOCABULARY_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "trainer_sdk/data/vocabulary.h"

namespace muster {

// The vocabulary whose Serialize gave `bytes`. InvalidArgument: nothing of the
// kind, or not sound.
absl::StatusOr<std::unique_ptr<Vocabulary>> ParseVocabulary(
    std::string_view bytes);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DATA_STORED_VOCABULARY_H_
