#ifndef MUSTER_AGENT_LOGS_TERMINAL_TEXT_H_
#define MUSTER_AGENT_LOGS_TERMINAL_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::agent {

enum class Colours { kKeep, kDrop };

// `text` (one line) without what would move a terminal's cursor, ring its bell
// or set its title: control characters other than tab, and escape sequences
// other than colours (SGR), which are kept or dropped as asked. Where colours
// are kept and used, a reset is put at the end, so that they do not run into
// the next line.
std::string WithoutControls(std::string_view text, Colours colours);

// `text` with each byte that is not part of valid UTF-8 replaced by U+FFFD.
std::string ValidUtf8(std::string_view text);

// `text` up to its last whole UTF-8 character: where it can be cut. All of
// `text`, where its end is not the beginning of a character.
std::string_view WholeCharacters(std::string_view text);

// `text` without an escape sequence that has begun at its end (ECMA-48 CSI, or
// the escape character alone).
std::string_view WithoutUnfinishedEscape(std::string_view text);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_TERMINAL_TEXT_H_
