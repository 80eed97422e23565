#ifndef MUSTER_AGENT_LOGS_TERMINAL_TEXT_H_
#define MUSTER_AGENT_LOGS_TERMINAL_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster::agent {

enum class Colours { kKeep, kDrop };

// Removes control characters other than tab, and escape sequences, from `text`
// (one line). These could move a terminal's cursor, ring its bell or set its
// title. Colours (SGR sequences) are kept if `colours` says so; a reset is then
// appended, so that the next line is not coloured.
std::string WithoutControls(std::string_view text, Colours colours);

// Replaces each byte of `text` that is not part of valid UTF-8 by U+FFFD.
std::string ValidUtf8(std::string_view text);

// Returns `text` without an incomplete UTF-8 character at its end.
std::string_view WholeCharacters(std::string_view text);

// Returns `text` without an incomplete escape sequence at its end (ECMA-48 CSI,
// or the escape character alone).
std::string_view WithoutUnfinishedEscape(std::string_view text);

// Makes invisible characters of `text` visible. A Unicode character that is
// invisible, or that changes the order of other characters, is replaced by its
// number, such as "<U+202E>". Examples: bidirectional overrides, zero-width
// characters, line separators and tags. `text` is valid UTF-8.
std::string WithVisibleFormats(std::string_view text);

// Makes external text safe to print on a terminal: valid UTF-8 without control
// characters and colours. Invisible format characters are replaced by visible
// text (WithVisibleFormats). Line ends are kept.
std::string ForTerminal(std::string_view text);

// The first non-blank line of `text`, made safe for a report: valid UTF-8
// without control characters and escape sequences, at most `max_bytes` bytes. A
// longer line is cut between characters and ends with "...". All functions of
// this file are pure.
std::string BoundedLine(std::string_view text, size_t max_bytes);

// Makes one line safe as BoundedLine does, but keeps its indentation, which
// tracebacks need. A blank line becomes empty.
std::string BoundedIndentedLine(std::string_view line, size_t max_bytes);

// The last `max_lines` of `lines`, each made safe as by BoundedIndentedLine.
std::vector<std::string> BoundedLastLines(const std::vector<std::string>& lines,
                                          size_t max_lines, size_t max_bytes);

// The last lines of `text`, at most `max_bytes` bytes in total, each made safe,
// and cut if it is too long. The last lines of a traceback are the most
// informative. The first line is "..." if lines were omitted.
std::string BoundedTail(std::string_view text, size_t max_bytes);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_TERMINAL_TEXT_H_
