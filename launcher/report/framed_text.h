#ifndef MUSTER_LAUNCHER_REPORT_FRAMED_TEXT_H_
#define MUSTER_LAUNCHER_REPORT_FRAMED_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "launcher/report/text_style.h"

namespace muster::launcher {

// Puts a summary together line by line, none wider than the target (but for
// words that must not be broken) and none with trailing blanks. Pure.
class FramedText {
 public:
  explicit FramedText(const TextTarget& target) : target_(target) {}

  // A line of `c` from edge to edge.
  void Rule(char c);
  void Blank();

  // `left`, inked, and `right` at the right edge.
  void Title(const std::string& left, Ink ink, const std::string& right);

  // "TEXT (remark)".
  void Heading(const std::string& text, const std::string& remark, Ink ink);

  // Text from somewhere else, wrapped.
  void Paragraph(std::string_view text);

  // A label and, beside it, printable lines, each wrapped on its own. Nothing
  // where there are none.
  void Field(const std::string& label, const std::vector<std::string>& lines);

  // The same for lines of a program, such as a traceback: none is broken, so
  // that `File "x.py", line 3` stays whole and a terminal can open it.
  void Quote(const std::string& label, const std::vector<std::string>& lines);

  // One line, wrapped, at the fields' indentation.
  void Indented(const std::string& line);

  std::string Take() { return std::move(text_); }

 private:
  void Add(std::string line);

  const TextTarget target_;
  std::string text_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_FRAMED_TEXT_H_
