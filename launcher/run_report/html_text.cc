#include "launcher/run_report/html_text.h"

#include "agent/logs/terminal_text.h"
#include "launcher/report/text_layout.h"

namespace muster::launcher {

std::string HtmlText(std::string_view text) {
  std::string escaped;
  for (const char c : agent::ForTerminal(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string HtmlLine(std::string_view text, int max_columns) {
  return HtmlText(Shorten(PrintableLine(text), max_columns));
}

}  // namespace muster::launcher
