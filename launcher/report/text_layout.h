#ifndef MUSTER_LAUNCHER_REPORT_TEXT_LAYOUT_H_
#define MUSTER_LAUNCHER_REPORT_TEXT_LAYOUT_H_

#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

// Layout of text for a terminal. All functions are pure. Every character is
// taken to be one column wide, which is wrong for wide scripts such as Chinese.

// The number of columns of `text` (UTF-8 without control characters).
int Columns(std::string_view text);

// Converts text of unknown origin to printable lines of valid UTF-8: splits it
// at newlines, replaces tabs by spaces, and removes control characters, escape
// sequences, trailing blanks and empty lines at the beginning and the end.
std::vector<std::string> PrintableLines(std::string_view text);

// Like PrintableLines, with the lines joined by spaces.
std::string PrintableLine(std::string_view text);

// Splits `line` at blanks into pieces of at most `columns`. A longer word stays
// whole, so that a path can be copied. The first piece keeps its indentation;
// the others are indented by `hang` more. Returns at least one piece.
std::vector<std::string> Wrap(std::string_view line, int columns, int hang);

// Pads `text` with blanks to `columns`. Longer text is returned unchanged.
std::string PadRight(std::string_view text, int columns);

// Returns `text`, or its beginning and "..." if it is longer than `columns`.
std::string Shorten(std::string_view text, int columns);

// The name of a program for a message: its path, or only the file's name if the
// path is longer than `columns`. A longer file name is shortened.
std::string ProgramName(std::string_view path, int columns);

// Formats rows as aligned columns, two blanks apart, without trailing blanks.
std::vector<std::string> AlignRows(
    const std::vector<std::vector<std::string>>& rows);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_TEXT_LAYOUT_H_
