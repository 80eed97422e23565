#include "launcher/run_report/report_page.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "base/message_text.h"
#include "launcher/report/text_layout.h"
#include "launcher/report/time_text.h"
#include "launcher/report/verdict_text.h"
#include "launcher/run_report/html_text.h"
#include "launcher/run_report/report_style.h"
#include "rendezvous/events/event_log.h"

namespace muster::launcher {
namespace {

using rendezvous::Activity;

// kReasonColumns, kNameColumns: maximum width, in columns of text, of a reason
// and of a name on the page. Longer texts are cut.
constexpr int kReasonColumns = 600;
constexpr int kNameColumns = 80;
// Maximum number of nodes whose times are shown as bars.
constexpr size_t kMaxNodeBars = 128;
constexpr size_t kMaxRowsOfTable = 200;
// Maximum number of rounds on the time line. Each round takes two segments of
// the line: one for the time before it in which no round ran, and one for the
// round itself.
constexpr size_t kMaxLaneRounds = 200;

std::string SecondsText(double seconds) {
  constexpr double kMaxSeconds = 9e9;
  return DurationText(std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(std::clamp(seconds, 0.0, kMaxSeconds))));
}

std::string TimeText(double unix_seconds) {
  return rendezvous::UtcText(unix_seconds);
}

// The time of day alone: "14:05:09".
std::string ClockText(double unix_seconds) {
  const std::string text = rendezvous::UtcText(unix_seconds);
  return text.size() < 19 ? text : text.substr(11, 8);
}

std::string Percent(double share) {
  return absl::StrFormat("%.1f %%", 100 * share);
}

// A number for people, with four significant digits.
std::string NumberText(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "NaN" : "infinite";
  const double size = std::abs(value);
  if (size >= 1e10 || (size > 0 && size < 1e-4)) {
    return absl::StrFormat("%.3g", value);
  }
  if (size >= 1e4) return absl::StrFormat("%.0f", value);
  return absl::StrFormat("%.4g", value);
}

std::string Name(const std::string& text) {
  return HtmlLine(text, kNameColumns);
}
std::string Reason(const std::string& text) {
  return HtmlLine(text, kReasonColumns);
}

class Page {
 public:
  Page(const RunReport& report, double written_at)
      : report_(report), written_at_(written_at) {}

  std::string Make();

 private:
  template <typename... Parts>
  void Add(const Parts&... parts) {
    absl::StrAppend(&html_, parts...);
  }
  // Begins a section with the heading. `id`: the section's anchor; the
  // navigation bar, which Head() writes, has a link to this anchor.
  void Begin(absl::string_view id, absl::string_view heading) {
    Add("<section id=\"", id, "\"><h2>", heading, "</h2>\n");
  }
  void End() { Add("</section>\n"); }
  void Fact(absl::string_view name, const std::string& html,
            absl::string_view css_class = "") {
    Add("<div class=\"", css_class, "\"><dt>", name, "</dt><dd>", html,
        "</dd></div>\n");
  }
  void BeginTable(absl::string_view label,
                  const std::vector<absl::string_view>& columns) {
    Add("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"",
        label, "\"><table><thead><tr>");
    for (const absl::string_view column : columns) Add("<th>", column, "</th>");
    Add("</tr></thead><tbody>\n");
  }
  void EndTable() { Add("</tbody></table></div>\n"); }
  void Cell(const std::string& html, absl::string_view css_class = "") {
    Add("<td class=\"", css_class, "\">", html, "</td>");
  }
  void Lines(const std::vector<std::string>& lines, absl::string_view label);
  // Adds a scrollable box with `lines`. When the page is opened, the box is
  // scrolled to the last lines.
  void LastLines(const std::vector<std::string>& lines,
                 absl::string_view label);

  void Head();
  void Summary();
  void Record();
  void Machines();
  void Rounds();
  void Lane();
  void Interruptions();
  void Time();
  void NodeBars();
  void Health();
  void Progress();
  // Adds a chart of `points` (x: time; y: value). `floor`: a value that the
  // vertical axis includes even if all points are higher.
  void Chart(absl::string_view heading, absl::string_view id,
             const std::vector<std::pair<double, double>>& points,
             std::optional<double> floor = std::nullopt);
  void Outputs();
  void Flights();
  void Settings();
  void Decisions();
  void Sources();

  // The newest time in the report, in seconds since 1970 (see
  // RunReport::last_time).
  double LastTime() const { return report_.last_time; }
  double FirstTime() const { return report_.first_time; }
  // Whether the report was made from the journal alone, without an event log.
  bool IsRecordAlone() const {
    return report_.record.has_value() && report_.events == 0;
  }
  // Whether RunReport::time includes the time of every node. A report from the
  // journal's record alone has only the time of nodes that have left, unless
  // the job has finished.
  bool HasTimeOfAll() const {
    return report_.time.has_value() &&
           (!IsRecordAlone() || report_.verdict.has_value());
  }

  const RunReport& report_;
  const double written_at_;
  std::string html_;
};

// How the page shows the run's outcome: a CSS class, a sign for people who see
// no colours, and a text.
struct Tone {
  const char* css_class;
  const char* sign;
  std::string text;
};

Tone ToneOf(const RunReport& report) {
  if (report.verdict.has_value()) {
    const std::string& outcome = report.verdict->outcome;
    if (outcome == "succeeded") return {"good", "✓", outcome};
    if (outcome == "failed" || outcome == "timed out") {
      return {"bad", "✗", outcome};
    }
    return {"warn", "■", outcome};
  }
  if (!report.finish_reason.empty()) return {"plain", "•", "ended"};
  return {"warn", "…", "no verdict"};
}

std::string CulpritText(const ReportInterruption& one) {
  if (one.failure.has_value()) {
    const rendezvous::Failure& failure = *one.failure;
    const std::string worker = WorkerText(failure);
    const std::string node = NodeText(failure);
    return worker.empty() ? absl::StrCat("node ", node)
                          : absl::StrCat(worker, " on ", node);
  }
  if (one.incident.has_value() && !one.incident->host.empty()) {
    return one.incident->host;
  }
  return "–";
}

std::string CauseText(const ReportInterruption& one) {
  std::string text = one.incident.has_value()
                         ? std::string(rendezvous::NameOf(one.incident->cause))
                         : "unknown";
  if (!one.incident.has_value() && one.failure.has_value()) text = "failure";
  if (one.failure.has_value()) {
    absl::StrAppend(&text, ": ", EndText(*one.failure));
  }
  return text;
}

// One coloured segment of a horizontal bar.
struct BarPart {
  double percent = 0;
  const char* css_class;
  // text in this segment of the bar; shown if the segment is wide enough
  std::string letter;
  std::string title;
};

std::string BarSvg(const std::vector<BarPart>& parts, int height,
                   const std::string& label) {
  std::string svg = absl::StrCat("<svg height=\"", height,
                                 "\" role=\"img\" aria-label=\"", label,
                                 "\"><rect class=\"track\" width=\"100%\" "
                                 "height=\"",
                                 height, "\" rx=\"2\"/>");
  double at = 0;
  for (const BarPart& part : parts) {
    if (part.percent <= 0) continue;
    absl::StrAppendFormat(
        &svg,
        "<rect class=\"%s\" x=\"%.3f%%\" width=\"%.3f%%\" height=\"%d\">"
        "<title>%s</title></rect>",
        part.css_class, at, std::min(part.percent, 100 - at), height,
        part.title);
    constexpr double kLetterPercent = 6;
    if (!part.letter.empty() && part.percent >= kLetterPercent) {
      absl::StrAppendFormat(&svg,
                            "<text class=\"on\" x=\"%.3f%%\" y=\"%d\" "
                            "text-anchor=\"middle\">%s</text>",
                            at + part.percent / 2, height - 4, part.letter);
    }
    at = std::min(100.0, at + part.percent);
  }
  return svg + "</svg>";
}

std::string Swatch(absl::string_view css_class) {
  return absl::StrCat("<svg aria-hidden=\"true\"><rect class=\"", css_class,
                      "\" width=\"100%\" height=\"100%\"/></svg>");
}

void Page::Lines(const std::vector<std::string>& lines,
                 absl::string_view label) {
  Add("<pre tabindex=\"0\" aria-label=\"", label, "\">");
  for (const std::string& line : lines) Add(HtmlText(line), "\n");
  Add("</pre>\n");
}

void Page::LastLines(const std::vector<std::string>& lines,
                     absl::string_view label) {
  Add("<pre class=\"tail\" tabindex=\"0\" aria-label=\"", label, "\"><span>");
  for (const std::string& line : lines) Add(HtmlText(line), "\n");
  Add("</span></pre>\n");
}

void Page::Head() {
  const Tone tone = ToneOf(report_);
  Add(kReportMark,
      "\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\""
      "default-src 'none'; style-src '",
      kReportStyleHash,
      "'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>",
      Name(report_.run_id), ": ", HtmlText(tone.text),
      " – Muster</title>\n<style>", kReportStyle,
      "</style>\n</head>\n<body>\n");
  Add("<header><p class=\"mark\">Muster: report of a run</p>"
      "<div class=\"head\"><h1>",
      Name(report_.run_id), "</h1><span class=\"pill ", tone.css_class, "\">",
      tone.sign, " ", HtmlText(tone.text), "</span></div>\n");
  Add("<p class=\"lead\">", Reason(OutcomeSentence(report_)), "</p>\n");
  Add("<nav aria-label=\"Parts of the report\">");
  const auto link = [&](absl::string_view id, absl::string_view text) {
    Add("<a href=\"#", id, "\">", text, "</a>");
  };
  link("summary", "Summary");
  if (report_.record.has_value()) link("record", "Record");
  link("rounds", "Rounds");
  if (!report_.interruptions.empty()) link("interruptions", "Interruptions");
  link("time", "Time");
  link("health", "Nodes");
  link("progress", "Progress");
  link("output", "Output");
  link("settings", "Settings");
  link("decisions", "Decisions");
  link("sources", "Sources");
  Add("</nav></header>\n<main>\n");
}

void Page::Summary() {
  Begin("summary", "Summary");
  Add("<dl class=\"facts\">\n");
  Fact("run id", Name(report_.run_id));
  if (report_.verdict.has_value()) {
    Fact("exit code", absl::StrCat(report_.verdict->exit_code));
  }
  Fact("began", TimeText(FirstTime()));
  const bool is_over =
      report_.verdict.has_value() || !report_.finish_reason.empty();
  Fact(is_over           ? "ended"
       : IsRecordAlone() ? "newest record"
                         : "newest event",
       TimeText(LastTime()));
  Fact("lasted",
       SecondsText(report_.verdict.has_value() ? report_.verdict->lasted_s
                                               : LastTime() - FirstTime()));
  Fact("nodes and workers",
       report_.nodes == 0 ? "–"
                          : absl::StrCat(Counted(report_.nodes, "node"), ", ",
                                         Counted(report_.workers, "worker")));
  Fact("rounds", absl::StrCat(static_cast<int64_t>(report_.rounds.size()) +
                              report_.rounds_dropped));
  if (report_.verdict.has_value()) {
    Fact("restarts used", absl::StrCat(report_.verdict->restarts_used));
  } else if (report_.restarts_used.has_value()) {
    Fact("restarts used", absl::StrCat(*report_.restarts_used, " of ",
                                       report_.max_restarts.value_or(0)));
  }
  if (HasTimeOfAll()) {
    Fact("productive (ETTR)", Percent(report_.time->ratio()));
    const rendezvous::JobTime::Sum losses = report_.time->losses();
    Fact("lost to interruptions",
         losses.incidents == 0
             ? "nothing"
             : absl::StrCat(SecondsText(losses.pause_s), " in ",
                            Counted(losses.incidents, "interruption")));
  }
  Add("</dl>\n");
  if (HasTimeOfAll() && report_.time->losses().incidents > 0) {
    Add("<p class=\"note\">", Reason(TimeLine(*report_.time)), "</p>\n");
  }
  if (report_.record.has_value() && !report_.record->comparison.empty()) {
    Add("<p class=\"note\">", Reason(report_.record->comparison), "</p>\n");
  }
  const ReportInterruption* const last =
      report_.interruptions.empty() ? nullptr : &report_.interruptions.back();
  const bool is_failed =
      report_.verdict.has_value() && report_.verdict->outcome == "failed";
  if (is_failed && last != nullptr && last->failure.has_value()) {
    const rendezvous::Failure& failure = *last->failure;
    Add("<div class=\"callout\"><dl class=\"facts\">\n");
    Fact("root cause", HtmlLine(CulpritText(*last), 200), "wide");
    Fact("what", Reason(EndText(failure)));
    if (failure.unix_time > 0) {
      Fact("when",
           absl::StrCat(TimeText(failure.unix_time), ", by that host's clock"));
    }
    const std::string message = MessageText(failure);
    if (!message.empty()) Fact("message", Reason(message), "wide");
    const std::string hint = HintText(failure);
    if (!hint.empty()) Fact("hint", Reason(hint), "wide");
    Add("</dl></div>\n");
  }
  End();
}

void Page::Lane() {
  const double span = LastTime() - FirstTime();
  if (span <= 0 || report_.rounds.empty()) return;
  const size_t first = report_.rounds.size() > kMaxLaneRounds
                           ? report_.rounds.size() - kMaxLaneRounds
                           : 0;
  const bool has_older = first > 0 || report_.rounds_dropped > 0;
  const double from = has_older ? report_.rounds[first].begin : FirstTime();
  const double width = LastTime() - from;
  // `width` is the time that the time line covers: from the first round shown
  // to the newest event or record. Draw nothing if it is zero, for example
  // because the round has just begun.
  if (width < 1e-3) return;
  std::vector<BarPart> parts;
  double at = from;
  const auto add = [&](double until, const char* css_class,
                       const std::string& letter, const std::string& title) {
    const double end = std::clamp(until, at, LastTime());
    parts.push_back(
        {.percent = 100 * (end - at) / width,
         .css_class = css_class,
         .letter = letter,
         .title = absl::StrCat(title, ", ", SecondsText(end - at))});
    at = end;
  };
  for (size_t i = first; i < report_.rounds.size(); ++i) {
    const ReportRound& round = report_.rounds[i];
    add(round.begin, "wait", "", "no round runs");
    const double end = round.end > 0 ? round.end
                       : i + 1 < report_.rounds.size()
                           ? report_.rounds[i + 1].begin
                           : LastTime();
    add(end, "run", absl::StrCat(round.number),
        absl::StrCat("round ", round.number));
  }
  add(LastTime(), "wait", "", "no round runs");
  Add("<div class=\"lane\">",
      BarSvg(parts, 22, "time line of the rounds; the table has its values"),
      "<svg height=\"14\" aria-hidden=\"true\">");
  for (const ReportInterruption& one : report_.interruptions) {
    if (one.time < from) continue;
    const double place = 100 * (one.time - from) / width;
    absl::StrAppendFormat(&html_,
                          "<text class=\"mark-x\" x=\"%.3f%%\" y=\"12\" "
                          "text-anchor=\"%s\">✗</text>",
                          place, place > 97 ? "end" : "middle");
  }
  Add("</svg><div class=\"axis\"><span>", TimeText(from), "</span><span>",
      TimeText(LastTime()), "</span></div></div>\n");
  Add("<p class=\"legend\"><span>", Swatch("run"),
      "a round runs, with its number</span><span>", Swatch("wait"),
      "no round runs</span><span>✗ interruption</span></p>\n");
  if (first > 0) {
    Add("<p class=\"note\">The time line has the newest ", kMaxLaneRounds,
        " rounds.</p>\n");
  }
}

void Page::Record() {
  if (!report_.record.has_value()) return;
  const ReportRecord& record = *report_.record;
  Begin("record", "The coordinator's record");
  Add("<p>The journal's newest record of this job is of ",
      TimeText(record.written_at), ": ", Name(record.phase),
      record.reason.empty() ? "" : absl::StrCat(", ", Reason(record.reason)),
      ".</p>\n<dl class=\"facts\">\n");
  Fact("round", absl::StrCat(record.round));
  Fact("restarts used",
       absl::StrCat(record.restarts_used, " of ", record.max_restarts));
  Fact("nodes that left", absl::StrCat(record.nodes_left));
  if (!record.run_tag.empty()) Fact("tag of the run", Name(record.run_tag));
  if (!record.owner.empty()) Fact("begun by", Name(record.owner));
  Add("</dl>\n<p class=\"note\">A record is written at decisions: what the "
      "nodes reported since then is not in it.</p>\n<h3>Nodes</h3>\n");
  if (record.members.empty()) {
    Add("<p>None: no node was in the job.</p>\n");
    End();
    return;
  }
  BeginTable("Nodes of the record",
             {"Group rank", "Node", "Host", "Ranks", "State", "Note"});
  const size_t shown = std::min(record.members.size(), kMaxRowsOfTable);
  for (size_t i = 0; i < shown; ++i) {
    const ReportMember& member = record.members[i];
    Add("<tr>");
    Cell(member.group_rank ? absl::StrCat(*member.group_rank) : "–", "num");
    Cell(member.node_id.empty() ? "not known" : Name(member.node_id));
    Cell(Name(member.host));
    std::string ranks = "–";
    if (member.first_rank.has_value() && member.slots > 0) {
      ranks = absl::StrCat(*member.first_rank);
      if (member.slots > 1) {
        absl::StrAppend(&ranks, " to ", *member.first_rank + member.slots - 1);
      }
    }
    Cell(ranks, "num");
    Cell(Name(member.state));
    Cell(Reason(member.note), "text");
    Add("</tr>\n");
  }
  EndTable();
  const int64_t left_out = static_cast<int64_t>(record.members.size() - shown) +
                           record.members_omitted;
  if (left_out > 0) {
    Add("<p class=\"note\">", Counted(left_out, "other node"),
        " left out.</p>\n");
  }
  End();
}

void Page::Rounds() {
  Begin("rounds", "Rounds");
  if (report_.rounds.empty()) {
    Add("<p>No round began",
        report_.newest_reason.empty()
            ? ""
            : absl::StrCat(": ", Reason(report_.newest_reason)),
        ".</p>\n");
    End();
    return;
  }
  Lane();
  const size_t first = report_.rounds.size() > kMaxRowsOfTable
                           ? report_.rounds.size() - kMaxRowsOfTable
                           : 0;
  const int64_t left_out = static_cast<int64_t>(first) + report_.rounds_dropped;
  if (left_out > 0) {
    Add("<p class=\"note\">", Counted(left_out, "older round"),
        " left out.</p>\n");
  }
  BeginTable("Rounds", {"Round", "Began", "Lasted", "World", "Ended"});
  for (size_t i = first; i < report_.rounds.size(); ++i) {
    const ReportRound& round = report_.rounds[i];
    Add("<tr>");
    Cell(absl::StrCat(round.number), "num");
    Cell(TimeText(round.begin));
    Cell(round.end > 0 ? SecondsText(round.end - round.begin) : "–");
    std::string began = round.began_as;
    const size_t colon = began.find(": ");
    if (colon != std::string::npos) began.erase(0, colon + 2);
    Cell(Reason(began), "text");
    Cell(round.ended_by != ReportRound::End::kUnknown ? Reason(round.why)
         : report_.record.has_value() && report_.record->is_newer &&
                 report_.record->round == round.number
             ? "it ran when the journal was written"
             : "not in the event log",
         "text");
    Add("</tr>\n");
  }
  EndTable();
  End();
}

void Page::Interruptions() {
  if (report_.interruptions.empty()) return;
  Begin("interruptions", "Interruptions");
  const std::vector<ReportInterruption>& all = report_.interruptions;
  const size_t first =
      all.size() > kMaxRowsOfTable ? all.size() - kMaxRowsOfTable : 0;
  if (first > 0) {
    Add("<p class=\"note\">",
        Counted(static_cast<int64_t>(first), "older interruption"),
        " left out.</p>\n");
  }
  BeginTable("Interruptions",
             {"When", "Round", "Culprit", "Cause", "Until the next round",
              "Without progress", "Steps repeated"});
  for (size_t i = first; i < all.size(); ++i) {
    const ReportInterruption& one = all[i];
    Add("<tr>");
    Cell(one.time > 0 ? TimeText(one.time) : "–");
    Cell(absl::StrCat(one.round), "num");
    Cell(HtmlLine(CulpritText(one), 200), "short");
    Cell(absl::StrCat("<b>", HtmlLine(CauseText(one), 200), "</b><br>",
                      Reason(one.why)),
         "text");
    Cell(one.next_round > 0 && one.time > 0
             ? SecondsText(one.next_round - one.time)
             : "–",
         "num");
    Cell(one.incident.has_value() && one.incident->nodes > 0
             ? SecondsText(one.incident->pause_s())
             : "–",
         "num");
    Cell(one.repeated_steps.has_value()
             ? absl::StrCat(*one.repeated_steps > 0 ? "≥ " : "",
                            *one.repeated_steps)
             : "–",
         "num");
    Add("</tr>\n");
  }
  EndTable();
  Add("<p class=\"note\">Without progress: from the end of the round to the "
      "first step that is new, the mean over the nodes. Steps repeated: the "
      "steps that are known to have been made twice; the report sees steps "
      "only from time to time.</p>\n");
  End();
}

void Page::Time() {
  Begin("time", "Where the time of the nodes went");
  if (!report_.time.has_value()) {
    Add("<p>",
        IsRecordAlone()
            ? "Not known: until the job ends, the journal has only the times "
              "of nodes that have left."
            : "The event log has no states, so the use of the time is not "
              "known. An older version writes decisions only.",
        "</p>\n");
    End();
    return;
  }
  const rendezvous::JobTime& time = *report_.time;
  const double total = time.total_s();
  Add("<p>", Percent(time.ratio()), " productive of ", SecondsText(total),
      " of node time",
      report_.verdict.has_value()
          ? ""
          : absl::StrCat(", as of ", TimeText(report_.time_as_of)),
      !HasTimeOfAll()
          ? ". This is the time of nodes that have left: until the job ends, "
            "the journal has no other"
          : "",
      ".</p>\n<div class=\"bars\">\n");
  std::vector<size_t> order;
  for (size_t i = 0; i < rendezvous::kActivities; ++i) {
    if (time.spent_s[i] > 0) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return time.spent_s[a] > time.spent_s[b];
  });
  for (const size_t i : order) {
    const double share = total > 0 ? time.spent_s[i] / total : 0;
    const std::string name(rendezvous::NameOf(static_cast<Activity>(i)));
    Add("<span>", name, "</span>",
        BarSvg({{.percent = 100 * share,
                 .css_class = "run",
                 .letter = "",
                 .title = absl::StrCat(name, " ", Percent(share))}},
               12, absl::StrCat(name, " ", Percent(share))),
        "<span class=\"num\">", Percent(share), "</span><span class=\"num\">",
        SecondsText(time.spent_s[i]), "</span>\n");
  }
  Add("</div>\n");
  NodeBars();
  End();
}

// One segment of the bar that shows how a node's time was spent: style, letter
// and description of the segment, and the activities whose times the segment
// sums.
struct TimeKind {
  const char* css_class;
  const char* letter;
  const char* text;
  std::vector<Activity> activities;
};

const std::vector<TimeKind>& TimeKinds() {
  static const auto& kinds = *new std::vector<TimeKind>{
      {"run", "P", "productive", {Activity::kProductive, Activity::kRunning}},
      {"good-fill", "C", "checkpoint", {Activity::kCheckpointing}},
      {"bad-fill",
       "L",
       "lost: stalled, recomputing, stopping, recovering",
       {Activity::kStalled, Activity::kRecomputing, Activity::kStopping,
        Activity::kRecovering}},
      {"warn-fill",
       "S",
       "start: starting, initialising",
       {Activity::kStarting, Activity::kInitialising}},
      {"wait", "", "waiting, idle", {Activity::kWaiting, Activity::kIdle}},
  };
  return kinds;
}

void Page::NodeBars() {
  // A report from the journal alone lists the nodes without the time that each
  // node spent on each activity.
  const bool has_times =
      std::ranges::any_of(report_.node_times, [](const RecordedNode& node) {
        return std::ranges::any_of(node.spent_s,
                                   [](double spent) { return spent > 0; });
      });
  if (!has_times) return;
  Add("<h3>By node</h3>\n<p class=\"legend\">");
  for (const TimeKind& kind : TimeKinds()) {
    Add("<span>", Swatch(kind.css_class), kind.letter,
        kind.letter[0] == '\0' ? "" : " ", kind.text, "</span>");
  }
  Add("</p>\n<div class=\"bars nodes\">\n");
  const size_t shown = std::min(report_.node_times.size(), kMaxNodeBars);
  for (size_t i = 0; i < shown; ++i) {
    const RecordedNode& node = report_.node_times[i];
    double total = 0;
    for (const double seconds : node.spent_s) total += seconds;
    std::vector<BarPart> parts;
    std::string words;
    double productive = 0;
    for (const TimeKind& kind : TimeKinds()) {
      double spent = 0;
      for (const Activity activity : kind.activities) {
        spent += node.spent_s[static_cast<size_t>(activity)];
      }
      const double share = total > 0 ? spent / total : 0;
      if (parts.empty()) productive = share;
      parts.push_back(
          {.percent = 100 * share,
           .css_class = kind.css_class,
           .letter = kind.letter,
           .title = absl::StrCat(kind.text, ": ", SecondsText(spent))});
      absl::StrAppend(&words, words.empty() ? "" : ", ", kind.text, " ",
                      Percent(share));
    }
    Add("<span class=\"name\">", HtmlLine(node.node_id, 40),
        node.group_rank.has_value() ? "" : " (left or spare)", "</span>",
        BarSvg(parts, 16, words), "<span class=\"num\">", Percent(productive),
        "</span>\n");
  }
  Add("</div>\n");
  const int64_t left_out =
      static_cast<int64_t>(report_.node_times.size() - shown) +
      report_.nodes_omitted;
  if (left_out > 0) {
    Add("<p class=\"note\">", Counted(left_out, "other node"),
        " left out; the totals above include them.</p>\n");
  }
}

void Page::Health() {
  Begin("health", "Nodes and ranks that need attention");
  const auto list = [&](const std::vector<ReportNote>& notes,
                        absl::string_view heading) {
    if (notes.empty()) return;
    Add("<h3>", heading, "</h3>\n");
    BeginTable(heading, {"When", "Round", "Node", "What"});
    for (const ReportNote& note : notes) {
      Add("<tr>");
      Cell(TimeText(note.time));
      Cell(absl::StrCat(note.round), "num");
      Cell(Name(note.node));
      Cell(Reason(note.reason), "text");
      Add("</tr>\n");
    }
    EndTable();
  };
  list(report_.health, "Checks, faults and quarantine");
  list(report_.stragglers, "Slow ranks");
  if (!report_.slow_ranks.empty()) {
    Add("<p>Slow in the newest state:");
    for (const RecordedSlowRank& slow : report_.slow_ranks) {
      Add(" rank ", slow.rank, " on ", Name(slow.host), " (");
      if (!slow.gpu.empty()) Add("GPU ", Name(slow.gpu), ", ");
      Add(Name(slow.phase), ", ", NumberText(slow.ratio),
          slow.phase == "network" ? " of the other links);"
                                  : " of the median);");
    }
    html_.back() = '.';
    Add("</p>\n");
  }
  if (report_.health.empty() && report_.stragglers.empty() &&
      report_.slow_ranks.empty()) {
    Add(IsRecordAlone()
            ? "<p>The journal does not say which nodes were kept out, or "
              "had a slow rank.</p>\n"
            : "<p>None: no check failed, no machine was suspected, "
              "quarantined or banned, and no slow rank was found.</p>\n");
  }
  Machines();
  End();
}

void Page::Machines() {
  if (!report_.record.has_value()) return;
  Add("<h3>Machines with faults</h3>\n");
  if (report_.machines.empty()) {
    Add("<p>None: the coordinator remembers no fault of this job's "
        "machines.</p>\n");
    return;
  }
  BeginTable("Machines with faults",
             {"Machine", "State", "Score", "Faults here", "In other jobs",
              "Newest fault of this job"});
  for (const ReportMachine& machine : report_.machines) {
    Add("<tr>");
    Cell(absl::StrCat(Name(machine.host),
                      machine.address.empty()
                          ? ""
                          : absl::StrCat("<br>", Name(machine.address))));
    Cell(absl::StrCat(Name(machine.state),
                      machine.order.empty()
                          ? ""
                          : absl::StrCat(": ", Reason(machine.order))),
         "short");
    Cell(NumberText(std::round(10 * machine.score) / 10), "num");
    Cell(absl::StrCat(machine.faults), "num");
    Cell(absl::StrCat(machine.faults_elsewhere), "num");
    Cell(machine.newest_at > 0 ? absl::StrCat(TimeText(machine.newest_at),
                                              "<br>", Reason(machine.newest))
                               : "–",
         "text");
    Add("</tr>\n");
  }
  EndTable();
  Add("<p class=\"note\">The coordinator's memory of machines, over all of its "
      "jobs, as of ",
      TimeText(report_.machines_as_of), "; QUARANTINE.md explains the score.",
      report_.machines_omitted > 0
          ? absl::StrCat(" ", Counted(report_.machines_omitted, "machine"),
                         " left out.")
          : "",
      "</p>\n");
}

void Page::Chart(absl::string_view heading, absl::string_view id,
                 const std::vector<std::pair<double, double>>& points,
                 std::optional<double> floor) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  int left_out = 0;
  for (const auto& [x, y] : points) {
    if (!std::isfinite(y)) {
      ++left_out;
      continue;
    }
    low = std::min(low, y);
    high = std::max(high, y);
  }
  Add("<div><h3>", heading, "</h3>\n");
  if (!std::isfinite(low)) {
    Add("<p class=\"note\">not reported as a number</p></div>\n");
    return;
  }
  low = std::min(low, floor.value_or(low));
  const double from = FirstTime();
  const double width = std::max(LastTime() - from, 1e-3);
  const double height = high > low ? high - low : 1;
  const double middle = high > low ? 0 : 50;
  std::string path;
  bool is_new = true;
  for (const auto& [x, y] : points) {
    // A value that is NaN or infinite leaves a gap in the curve.
    if (!std::isfinite(y)) {
      is_new = true;
      continue;
    }
    absl::StrAppendFormat(
        &path, "%s%.2f %.2f", is_new ? "M" : "L", 1000 * (x - from) / width,
        middle + 96 - 92 * (y - low) / height * (high > low ? 1 : 0));
    is_new = false;
  }
  Add("<div class=\"plot\" id=\"chart-", id, "\"><div class=\"scale\"><span>",
      NumberText(high), "</span><span>", high > low ? NumberText(low) : "",
      "</span></div><svg viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" "
      "role=\"img\" aria-label=\"",
      heading, ", from ", NumberText(low), " to ", NumberText(high), "\">");
  for (const ReportInterruption& one : report_.interruptions) {
    if (one.time < from) continue;
    const double at = 1000 * (one.time - from) / width;
    absl::StrAppendFormat(&html_,
                          "<line class=\"cut\" x1=\"%.2f\" x2=\"%.2f\" "
                          "y1=\"0\" y2=\"100\"/>",
                          at, at);
  }
  const bool is_one = points.size() == 1;
  Add("<path class=\"", is_one ? "dots" : "curve", "\" d=\"", path,
      is_one ? "h0" : "", "\"/></svg><div class=\"axis\"><span>",
      ClockText(from), "</span><span>", ClockText(LastTime()),
      " UTC</span></div></div>\n");
  if (left_out > 0) {
    Add("<p class=\"note\">", Counted(left_out, "sample"),
        " not shown: NaN or infinite.</p>\n");
  }
  Add("</div>\n");
}

void Page::Progress() {
  Begin("progress", "Progress");
  std::vector<std::pair<double, double>> loss, step_time, rate, steps;
  const ReportSample* before = nullptr;
  for (const ReportSample& sample : report_.samples) {
    const bool is_same = before != nullptr && before->round == sample.round;
    if (sample.loss.has_value()) loss.emplace_back(sample.time, *sample.loss);
    if (sample.step.has_value()) {
      steps.emplace_back(sample.time, static_cast<double>(*sample.step));
    }
    if (sample.tokens_per_s > 0) {
      rate.emplace_back(sample.time, sample.tokens_per_s);
    }
    if (is_same && before->step && sample.step &&
        *sample.step > *before->step && sample.time > before->time) {
      step_time.emplace_back(
          sample.time, (sample.time - before->time) /
                           static_cast<double>(*sample.step - *before->step));
    }
    before = &sample;
  }
  if (loss.empty() && steps.empty() && rate.empty()) {
    Add(IsRecordAlone()
            ? "<p>The journal does not keep the progress of the workers.</p>\n"
            : "<p>The workers reported no steps, or the event log has no "
              "states. SDK.md says how a worker reports its progress.</p>\n");
    End();
    return;
  }
  Add("<div class=\"charts\">\n");
  if (!loss.empty()) Chart("Loss, mean of the ranks", "loss", loss);
  if (!steps.empty()) Chart("Step of the slowest rank", "step", steps);
  if (!step_time.empty()) Chart("Seconds per step", "step-time", step_time, 0);
  if (!rate.empty()) Chart("Tokens per second, all ranks", "rate", rate, 0);
  Add("</div>\n<p class=\"note\">",
      Counted(static_cast<int64_t>(report_.samples.size()), "sample"),
      " of the coordinator; a dashed line is an interruption.</p>\n");
  End();
}

void Page::Outputs() {
  Begin("output", "Output of the ranks that failed");
  if (report_.outputs.empty()) {
    const bool is_success =
        report_.verdict.has_value() && report_.verdict->outcome == "succeeded";
    Add("<p>",
        is_success && report_.interruptions.empty()
            ? "No rank failed."
            : "No files of the workers were found; see the sources.",
        "</p>\n");
  }
  for (const ReportOutput& output : report_.outputs) {
    Add("<h3>Rank ", output.rank, " in round ", output.round,
        output.host.empty() ? "" : absl::StrCat(" on ", Name(output.host)),
        "</h3>\n<p class=\"note\">Shown because ", Reason(output.why),
        ".</p>\n");
    if (!output.error_message.empty()) {
      Add("<h4>error file</h4>\n<p>", Reason(output.error_message), "</p>\n");
      if (!output.error_traceback.empty()) {
        Lines(PrintableLines(output.error_traceback), "traceback");
      }
    }
    for (const ReportOutput::Stream& stream : output.streams) {
      Add("<h4>", Name(stream.name), ", ",
          stream.is_cut ? "the last lines of " : "",
          Counted(stream.bytes, "byte"), "</h4>\n");
      if (!stream.lines.empty()) LastLines(stream.lines, Name(stream.name));
    }
  }
  // If the report has no output files of a failed rank, show the last lines
  // that the rank's node sent to the coordinator.
  for (const ReportInterruption& one : report_.interruptions) {
    if (!one.failure.has_value()) continue;
    const rendezvous::Failure& failure = *one.failure;
    const bool is_shown =
        std::ranges::any_of(report_.outputs, [&](const ReportOutput& output) {
          return output.round == one.round && output.rank == failure.rank &&
                 !output.streams.empty();
        });
    if (is_shown || (failure.stderr_tail.empty() && failure.stack.empty() &&
                     failure.traceback.empty())) {
      continue;
    }
    Add("<details open><summary>", Name(CulpritText(one)), ", round ",
        one.round, ": what its node reported</summary>\n");
    if (!failure.traceback.empty()) {
      Lines(PrintableLines(failure.traceback), "traceback");
    }
    if (!failure.stderr_tail.empty()) {
      Add("<h4>last lines of stderr</h4>\n");
      Lines(failure.stderr_tail, "stderr");
    }
    if (!failure.stack.empty()) {
      Add("<h4>stack</h4>\n");
      Lines(failure.stack, "stack");
    }
    Add("</details>\n");
  }
  Flights();
  End();
}

void Page::Flights() {
  for (const ReportFlight& flight : report_.flights) {
    Add("<h3>Flight recorders of round ", flight.round, "</h3>\n");
    Lines(PrintableLines(flight.text), "flight recorders");
  }
}

void Page::Settings() {
  Begin("settings", "Settings");
  if (report_.settings.empty()) {
    Add("<p>The event log does not have them.</p>\n");
    End();
    return;
  }
  Add("<dl class=\"facts\">\n");
  for (const auto& [name, value] : report_.settings) {
    if (name == "command") continue;
    std::string label = name;
    std::ranges::replace(label, '_', ' ');
    Fact(Name(label), Reason(value));
  }
  bool has_command = false;
  for (const auto& [name, value] : report_.settings) {
    if (name == "command" && !value.empty()) {
      has_command = true;
      Fact("command of a node's workers",
           absl::StrCat("<code>", HtmlLine(value, 2000), "</code>"), "wide");
    }
  }
  Add("</dl>\n<p class=\"note\">",
      has_command ? "Values of the command that look like secrets are left out."
                  : "The event log of a rendezvousd has no command.",
      "</p>\n");
  End();
}

void Page::Decisions() {
  Begin("decisions", "Decisions of the coordinator");
  if (IsRecordAlone()) {
    Add("<p>The journal keeps the state that they led to, and not the "
        "decisions.</p>\n");
    End();
    return;
  }
  Add("<details><summary>",
      Counted(static_cast<int64_t>(report_.notes.size()), "decision"),
      report_.notes_dropped > 0
          ? absl::StrCat("; ", report_.notes_dropped, " older left out")
          : "",
      "</summary>\n");
  BeginTable("Decisions", {"When", "Round", "Kind", "Node", "Reason"});
  for (const ReportNote& note : report_.notes) {
    Add("<tr>");
    Cell(TimeText(note.time));
    Cell(absl::StrCat(note.round), "num");
    Cell(Name(note.kind));
    Cell(Name(note.node));
    Cell(Reason(note.reason), "text");
    Add("</tr>\n");
  }
  EndTable();
  Add("</details>\n");
  End();
}

void Page::Sources() {
  Begin("sources", "Sources");
  BeginTable("Sources", {"File", "Content"});
  for (const ReportSource& source : report_.sources) {
    Add("<tr>");
    Cell(Reason(source.path), "path");
    Cell(Reason(source.what), "text");
    Add("</tr>\n");
  }
  EndTable();
  if (!report_.missing.empty()) {
    Add("<h3>Missing</h3>\n<ul>\n");
    for (const std::string& sentence : report_.missing) {
      Add("<li>", Reason(sentence), "</li>\n");
    }
    Add("</ul>\n");
  }
  End();
  Add("<footer><p>Written ", TimeText(written_at_),
      " by <code>launch report</code>. Times are UTC, by the clock of the "
      "coordinator.</p></footer>\n");
}

std::string Page::Make() {
  Head();
  Summary();
  Record();
  Rounds();
  Interruptions();
  Time();
  Health();
  Progress();
  Outputs();
  Settings();
  Decisions();
  Sources();
  Add("</main>\n</body>\n</html>\n");
  return std::move(html_);
}

}  // namespace

std::string OutcomeSentence(const RunReport& report) {
  if (report.verdict.has_value()) {
    const RecordedVerdict& verdict = *report.verdict;
    if (verdict.outcome == "succeeded") {
      const int64_t times = static_cast<int64_t>(report.interruptions.size());
      return times == 0 ? "The job succeeded without an interruption."
                        : absl::StrCat("The job succeeded after ",
                                       Counted(times, "interruption"), ".");
    }
    return absl::StrCat(
        verdict.outcome == "failed"
            ? "The job failed: "
            : absl::StrCat("The job ended (", verdict.outcome, "): "),
        verdict.reason);
  }
  if (!report.finish_reason.empty()) {
    return absl::StrCat("The job ended: ", report.finish_reason);
  }
  if (report.first_time == 0) return "The event log has no events of this run.";
  if (report.record.has_value() && report.record->is_newer) {
    return absl::StrCat(
        report.events == 0 ? "The journal has no verdict. Its record is of "
                           : "Neither the event log nor the journal has a "
                             "verdict. The newest record is of ",
        rendezvous::UtcText(report.last_time), ": ", report.newest_phase,
        report.newest_reason.empty() ? ""
                                     : absl::StrCat(", ", report.newest_reason),
        ". Either the job still runs, or its coordinator was killed and has "
        "not been started again.");
  }
  return absl::StrCat(
      "The event log has no verdict. Its newest event is of ",
      rendezvous::UtcText(report.last_time),
      ": either the job still runs, or its coordinator was killed, or the "
      "log is incomplete.",
      report.newest_reason.empty()
          ? ""
          : absl::StrCat(" The newest state: ", report.newest_phase, ", ",
                         report.newest_reason, "."));
}

std::string ReportPage(const RunReport& report, double written_at) {
  return Page(report, written_at).Make();
}

}  // namespace muster::launcher
