#ifndef MUSTER_LAUNCHER_REPORT_TEXT_STYLE_H_
#define MUSTER_LAUNCHER_REPORT_TEXT_STYLE_H_

#include <string>

namespace muster::launcher {

// Whether a text is coloured: for a terminal only.
enum class TextStyle { kPlain, kColoured };

enum class Ink { kRed, kGreen, kYellow, kBold, kFaint };

// `text` in bold colours (or faint), as it is where the style is plain. Pure.
std::string Inked(const std::string& text, Ink ink, TextStyle style);

// How to write to a terminal or file.
struct TextTarget {
  TextStyle style = TextStyle::kPlain;
  int columns = 80;
};

// Coloured if `fd` is a terminal, NO_COLOR is unset or empty (no-color.org)
// and TERM is not "dumb". Columns are the terminal's, within 60 to 100; 80
// where there is no terminal.
TextTarget TargetOf(int fd);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_TEXT_STYLE_H_
