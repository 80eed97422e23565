#ifndef MUSTER_LAUNCHER_RUN_REPORT_HTML_TEXT_H_
#define MUSTER_LAUNCHER_RUN_REPORT_HTML_TEXT_H_

#include <string>
#include <string_view>

namespace muster::launcher {

// Converts text of unknown origin for the content of an HTML element or a
// quoted attribute. The result is valid UTF-8 without control characters,
// escape sequences and invisible characters; &, <, >, " and ' are character
// references. Newlines are kept. Pure.
std::string HtmlText(std::string_view text);

// Converts text to one line for HTML, as HtmlText does, of at most
// `max_columns` columns. A longer line is cut and ends with "...". Pure.
std::string HtmlLine(std::string_view text, int max_columns);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_RUN_REPORT_HTML_TEXT_H_
