#ifndef MUSTER_AGENT_LOGS_FORMAT_CHARACTERS_H_
#define MUSTER_AGENT_LOGS_FORMAT_CHARACTERS_H_

#include <string>
#include <string_view>

namespace muster::agent {

// Replaces every Unicode character in `text` that is invisible or changes the
// order of other characters (bidirectional overrides, zero-width characters,
// line separators, tags) by its number, such as "<U+202E>". `text` is valid
// UTF-8.
std::string WithVisibleFormats(std::string_view text);

// Makes external text safe to print on a terminal: valid UTF-8 without control
// characters and colours, with visible format characters. Line ends are kept.
std::string ForTerminal(std::string_view text);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_FORMAT_CHARACTERS_H_
