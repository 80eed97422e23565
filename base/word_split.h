#ifndef MUSTER_BASE_WORD_SPLIT_H_
#define MUSTER_BASE_WORD_SPLIT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster {

// The words of `text` as a shell would part them: at blanks, with '...', "..."
// and \ to keep them together. Nothing else is special. InvalidArgument: a
// quote that is not closed.
absl::StatusOr<std::vector<std::string>> SplitWords(std::string_view text);

// `text` as one word of a shell (POSIX, csh, fish): in single quotes.
std::string ShellWord(std::string_view text);

}  // namespace muster

#endif  // MUSTER_BASE_WORD_SPLIT_H_
