#ifndef MUSTER_LAUNCHER_REPORT_TEXT_LAYOUT_H_
#define MUSTER_LAUNCHER_REPORT_TEXT_LAYOUT_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace muster::launcher {

// Layout and colours of text for a terminal. Wide characters, such as Chinese
// ones and emoji, count as two columns. All functions except TargetOf are pure.

// Whether a text has colours. kColoured: it has escape sequences for a
// terminal.
enum class TextStyle { kPlain, kColoured };

enum class Ink { kRed, kGreen, kYellow, kBold, kFaint };

// Returns `text` in `ink`, with escape sequences, or unchanged if the style is
// plain. Pure.
std::string Inked(const std::string& text, Ink ink, TextStyle style);

// The style and the width of the output for a terminal or a file.
struct TextTarget {
  TextStyle style = TextStyle::kPlain;
  int columns = 80;
};

// The target for the file descriptor `fd`. Coloured if `fd` is a terminal,
// NO_COLOR is unset or empty (no-color.org) and TERM is not "dumb". The width
// is the terminal's, but at least 60 and at most 100 columns; without a
// terminal it is 80.
TextTarget TargetOf(int fd);

// Formats a duration with the one or two units that fit its size: "0.04s",
// "7.5s", "2m 03s", "5h 07m", "3d 04h". Rounds down. A negative duration is
// shown as zero. Pure.
std::string DurationText(Duration duration);

// The number of columns of `text` (UTF-8 without control characters).
int Columns(std::string_view text);

// Converts text of unknown origin to printable lines of valid UTF-8: splits it
// at newlines, replaces tabs by spaces, and removes control characters, escape
// sequences, trailing blanks and empty lines at the beginning and the end.
std::vector<std::string> PrintableLines(std::string_view text);

// Converts text of unknown origin to one printable line: the lines of
// PrintableLines, joined by spaces.
std::string PrintableLine(std::string_view text);

// Splits `line` at blanks into pieces of at most `columns` columns. A word that
// is longer stays whole, so that a path can be copied. The first piece keeps
// the line's indentation; all other pieces are indented by `hang` more columns.
// Returns at least one piece.
std::vector<std::string> Wrap(std::string_view line, int columns, int hang);

// Pads `text` with blanks to `columns`. Longer text is returned unchanged.
std::string PadRight(std::string_view text, int columns);

// Returns `text`, or its beginning and "..." if it is longer than `columns`.
std::string Shorten(std::string_view text, int columns);

// The name of a program for a message: its path. If the path is longer than
// `columns`, only the file's name, which is shortened if necessary.
std::string ProgramName(std::string_view path, int columns);

// Formats rows as aligned columns, two blanks apart, without trailing blanks.
std::vector<std::string> AlignRows(
    const std::vector<std::vector<std::string>>& rows);

// Builds a summary line by line. No line is wider than the target, except for
// words that must stay whole, and no line ends with blanks. Pure.
class FramedText {
 public:
  explicit FramedText(const TextTarget& target) : target_(target) {}

  // Adds a line that is filled with the character `c`.
  void Rule(char c);
  void Blank();

  // Adds a line with `left`, in the style of `ink`, at the left edge, and
  // `right` at the right edge.
  void Title(const std::string& left, Ink ink, const std::string& right);

  // Adds the line "TEXT (remark)".
  void Heading(const std::string& text, const std::string& remark, Ink ink);

  // Adds a text of unknown origin, such as a reason: printable lines, wrapped
  // to the width.
  void Paragraph(std::string_view text);

  // Adds a label and, to its right, printable lines, each wrapped separately.
  // Adds nothing if `lines` is empty.
  void Field(const std::string& label, const std::vector<std::string>& lines);

  // Adds a label and, to its right, the lines of a program, such as a
  // traceback. Unlike the lines of Field, they are not wrapped, so that a
  // terminal can open `File "x.py", line 3`.
  void Quote(const std::string& label, const std::vector<std::string>& lines);

  // Adds one text, wrapped, with the same indentation as the texts of fields.
  void Indented(const std::string& line);

  std::string Take() { return std::move(text_); }

 private:
  void Add(std::string line);

  const TextTarget target_;
  std::string text_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_TEXT_LAYOUT_H_
