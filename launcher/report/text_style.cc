#include "launcher/report/text_style.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace muster::launcher {
namespace {

std::string_view Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

const char* Code(Ink ink) {
  switch (ink) {
    case Ink::kRed:
      return "\x1b[1;31m";
    case Ink::kGreen:
      return "\x1b[1;32m";
    case Ink::kYellow:
      return "\x1b[1;33m";
    case Ink::kBold:
      return "\x1b[1m";
    case Ink::kFaint:
      return "\x1b[2m";
  }
  return "";
}

}  // namespace

std::string Inked(const std::string& text, Ink ink, TextStyle style) {
  if (style == TextStyle::kPlain || text.empty()) return text;
  return Code(ink) + text + "\x1b[0m";
}

TextTarget TargetOf(int fd) {
  TextTarget target;
  if (isatty(fd) != 1) return target;
  bool wanted = Variable("NO_COLOR").empty() && Variable("TERM") != "dumb";
  if (wanted) target.style = TextStyle::kColoured;
  winsize size = {};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    target.columns = std::clamp<int>(size.ws_col, 60, 100);
  }
  return target;
}

}  // namespace muster::launcher
