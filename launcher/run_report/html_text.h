#ifndef MUSTER_LAUNCHER_RUN_REPORT_HTML_TEXT_H_
#define MUSTER_LAUNCHER_RUN_REPORT_HTML_TEXT_H_

#include <string>
#include <string_view>

namespace muster::launcher {

// Converts text of unknown origin for the content of an HTML element or a
// quoted attribute: valid UTF-8 without control characters, escape sequences
// and invisible characters, with &, <, >, " and ' as references. Line ends
// stay. Pure.
std::string HtmlText(std::string_view text);

// Like HtmlText for one line of at most `max_columns` characters; a longer one
// ends with "...".
std::string HtmlLine(std::string_view text, int max_columns);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_RUN_REPORT_HTML_TEXT_H_
