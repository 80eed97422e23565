#ifndef MUSTER_LAUNCHER_REPORT_TEXT_LAYOUT_H_
#define MUSTER_LAUNCHER_REPORT_TEXT_LAYOUT_H_

#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

// Layout of text for a terminal. Everything here is pure. A column is taken to
// be one character, which holds for all but wide scripts.

// Columns that `text` (UTF-8 without control characters) takes.
int Columns(std::string_view text);

// `text` from somewhere else as printable lines: split at newlines, tabs as
// spaces, without control characters, escape sequences, trailing blanks and
// empty lines at either end; valid UTF-8.
std::vector<std::string> PrintableLines(std::string_view text);

// The same on one line, line breaks as spaces.
std::string PrintableLine(std::string_view text);

// `line` in pieces of at most `columns`, broken at blanks. A long word stays
// whole and sticks out, so that a path can be copied. The first piece keeps its
// leading blanks; the others begin with `hang` more. At least one piece.
std::vector<std::string> Wrap(std::string_view line, int columns, int hang);

// `text` filled up with blanks to `columns`; longer text stays as it is.
std::string PadRight(std::string_view text, int columns);

// `text`, or where it is longer than `columns` its beginning and "...".
std::string Shorten(std::string_view text, int columns);

// The name of a program: its path, or where that is longer than `columns` the
// file's name, shortened if need be.
std::string ProgramName(std::string_view path, int columns);

// Rows in aligned columns, two blanks apart, no trailing blanks.
std::vector<std::string> AlignRows(
    const std::vector<std::vector<std::string>>& rows);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_TEXT_LAYOUT_H_
