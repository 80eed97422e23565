#ifndef MUSTER_AGENT_LOGS_FORMAT_CHARACTERS_H_
#define MUSTER_AGENT_LOGS_FORMAT_CHARACTERS_H_

#include <string>
#include <string_view>

namespace muster::agent {

// `text` with every Unicode character that is invisible or changes the order
// of others (bidirectional overrides, zero-width characters, line separators,
// tags) written as its number: "<U+202E>". `text` is valid UTF-8.
std::string WithVisibleFormats(std::string_view text);

// One or more lines of text from outside as a terminal may show them: without
// controls and colours, as valid UTF-8, with visible format characters. Line
// ends stay.
std::string ForTerminal(std::string_view text);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_FORMAT_CHARACTERS_H_
