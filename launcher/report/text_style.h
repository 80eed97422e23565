#ifndef MUSTER_LAUNCHER_REPORT_TEXT_STYLE_H_
#define MUSTER_LAUNCHER_REPORT_TEXT_STYLE_H_

#include <string>

namespace muster::launcher {

// kColoured: with the escape sequences of a terminal.
enum class TextStyle { kPlain, kColoured };

enum class Ink { kRed, kGreen, kYellow, kBold, kFaint };

// Returns `text` in `ink`, with escape sequences, or unchanged if the style is
// plain. Pure.
std::string Inked(const std::string& text, Ink ink, TextStyle style);

// The style and width of a text's destination, a terminal or a file.
struct TextTarget {
  TextStyle style = TextStyle::kPlain;
  int columns = 80;
};

// The target for the file descriptor `fd`. Coloured if `fd` is a terminal,
// NO_COLOR is unset or empty (no-color.org) and TERM is not "dumb". The width
// is the terminal's, between 60 and 100 columns; without a terminal 80.
TextTarget TargetOf(int fd);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_TEXT_STYLE_H_
