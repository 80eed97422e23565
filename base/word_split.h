#ifndef MUSTER_BASE_WORD_SPLIT_H_
#define MUSTER_BASE_WORD_SPLIT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster {

// Splits `text` into words at blanks. As in a shell, '...', "..." and a
// backslash (\) quote blanks and other characters. No other character is
// special. InvalidArgument: a quote is not closed.
absl::StatusOr<std::vector<std::string>> SplitWords(std::string_view text);

// Quotes `text` as one word for a shell (POSIX, csh, fish), in single quotes.
std::string ShellWord(std::string_view text);

}  // namespace muster

#endif  // MUSTER_BASE_WORD_SPLIT_H_
