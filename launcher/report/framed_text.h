#ifndef MUSTER_LAUNCHER_REPORT_FRAMED_TEXT_H_
#define MUSTER_LAUNCHER_REPORT_FRAMED_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "launcher/report/text_style.h"

namespace muster::launcher {

// Builds a summary line by line. No line is wider than the target, except for
// words that must stay whole, and no line ends with blanks. Pure.
class FramedText {
 public:
  explicit FramedText(const TextTarget& target) : target_(target) {}

  // Adds a line that repeats `c` over the full width.
  void Rule(char c);
  void Blank();

  // Adds a line with `left`, in the style of `ink`, at the left edge and
  // `right` at the right edge.
  void Title(const std::string& left, Ink ink, const std::string& right);

  // Adds the line "TEXT (remark)".
  void Heading(const std::string& text, const std::string& remark, Ink ink);

  // Adds a text that is not ours, such as a reason, wrapped to the width.
  void Paragraph(std::string_view text);

  // Adds a label and, to its right, printable lines, each wrapped separately.
  // Adds nothing if `lines` is empty.
  void Field(const std::string& label, const std::vector<std::string>& lines);

  // Like Field, for the lines of a program, such as a traceback. Lines are not
  // wrapped, so that a terminal can open `File "x.py", line 3`.
  void Quote(const std::string& label, const std::vector<std::string>& lines);

  // Adds one line, wrapped, with the indentation of the fields.
  void Indented(const std::string& line);

  std::string Take() { return std::move(text_); }

 private:
  void Add(std::string line);

  const TextTarget target_;
  std::string text_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_FRAMED_TEXT_H_
