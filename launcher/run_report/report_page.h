#ifndef MUSTER_LAUNCHER_RUN_REPORT_REPORT_PAGE_H_
#define MUSTER_LAUNCHER_RUN_REPORT_REPORT_PAGE_H_

#include <string>

#include "launcher/run_report/run_report.h"

namespace muster::launcher {

// The first bytes of every report. They distinguish a report from other files.
inline constexpr char kReportMark[] =
    "<!doctype html><!-- Muster run report -->";

// The report as an HTML document: without scripts, forms and external
// resources, with a Content-Security-Policy that permits only the document's
// own style. Texts of the run appear as plain text, even if they contain HTML.
// Pure.
std::string ReportPage(const RunReport& report, double written_at);

// The outcome of the run in plain words, one sentence. Pure.
std::string OutcomeSentence(const RunReport& report);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_RUN_REPORT_REPORT_PAGE_H_
