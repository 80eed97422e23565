#include "launcher/doctor/doctor_text.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "agent/health/wording.h"
#include "base/message_text.h"
#include "launcher/report/text_layout.h"

namespace muster::launcher {
namespace {

constexpr int kLabel = 9;  // width of the label column: " warning" and a blank

// Maximum number of lines of one kind that the doctor's page shows; --json
// shows all.
constexpr int kMaxOfAKind = 6;
// If a kind of findings has more lines than this, the doctor's page leaves out
// the kind's lines of severity kOk.
constexpr int kMaxFineOfAKind = 3;

// One line of the doctor's page: a finding and, on a page of several nodes, the
// nodes that have this finding.
struct Line {
  agent::Finding finding;
  std::vector<std::string> hosts;
};

Ink InkOf(agent::Severity severity) {
  switch (severity) {
    case agent::Severity::kOk:
      return Ink::kGreen;
    case agent::Severity::kNote:
      return Ink::kBold;
    case agent::Severity::kWarning:
      return Ink::kYellow;
    case agent::Severity::kError:
      return Ink::kRed;
  }
  return Ink::kBold;
}

// Whether AppendLine appends advice on how to solve the problem to a line of
// the page. If successive lines show findings of one kind, only the last of
// these lines gets the advice.
enum class Remedy { kLeftOut, kTold };

void AppendLine(const Line& line, Remedy remedy, const TextTarget& target,
                std::string& out) {
  const agent::Finding& finding = line.finding;
  const std::string label = agent::SeverityText(finding.severity);
  std::string what = PrintableLine(finding.what);
  if (!line.hosts.empty()) {
    what = absl::StrCat(PrintableLine(agent::Listed(line.hosts)), ": ", what);
  }
  if (finding.severity != agent::Severity::kOk) {
    absl::StrAppend(&what, "  [", PrintableLine(finding.id), "]");
  }
  const std::string hang(kLabel + 2, ' ');
  const int columns = target.columns - kLabel - 2;
  bool first = true;
  for (const std::string& piece : Wrap(what, columns, 0)) {
    absl::StrAppend(
        &out,
        first ? absl::StrCat(
                    "  ", Inked(label, InkOf(finding.severity), target.style),
                    std::string(kLabel - label.size(), ' '))
              : hang,
        piece, "\n");
    first = false;
  }
  if (finding.remedy.empty() || remedy == Remedy::kLeftOut) return;
  first = true;
  for (const std::string& piece :
       Wrap(PrintableLine(finding.remedy), columns - 4, 0)) {
    absl::StrAppend(&out, hang,
                    Inked(absl::StrCat(first ? "do: " : "    ", piece),
                          Ink::kFaint, target.style),
                    "\n");
    first = false;
  }
}

std::string Summary(const std::vector<Line>& lines, const TextTarget& target) {
  int counts[4] = {};
  for (const Line& line : lines) {
    ++counts[static_cast<int>(line.finding.severity)];
  }
  std::vector<std::string> parts;
  if (counts[3] > 0) parts.push_back(Counted(counts[3], "error"));
  if (counts[2] > 0) parts.push_back(Counted(counts[2], "warning"));
  if (counts[1] > 0) parts.push_back(Counted(counts[1], "note"));
  const std::string found =
      parts.empty() ? "nothing to report" : agent::Listed(parts);
  if (counts[3] > 0) {
    return Inked(absl::StrCat("Unhealthy: ", found), Ink::kRed, target.style);
  }
  if (counts[2] > 0) {
    return Inked(absl::StrCat("Healthy, with ", found), Ink::kYellow,
                 target.style);
  }
  return Inked(absl::StrCat("Healthy: ", found), Ink::kGreen, target.style);
}

agent::FindingGroup GroupOf(const agent::Finding& finding) {
  const agent::FindingKind* kind = agent::KindOf(finding.id);
  return kind == nullptr ? agent::FindingGroup::kNodes : kind->group;
}

// Returns `lines` with at most kMaxOfAKind lines of each kind. If a kind has
// more than kMaxFineOfAKind lines, its lines of severity kOk are left out
// first. If kMaxOfAKind lines are kept and the kind has more, the last kept
// line becomes "and N more of this kind". N counts all lines of the kind that
// are not shown, also those of severity kOk.
std::vector<Line> Bounded(const std::vector<Line>& lines) {
  std::map<std::string, int> of_kind;
  for (const Line& line : lines) ++of_kind[line.finding.id];
  std::vector<Line> kept;
  std::map<std::string, int> seen;
  for (const Line& line : lines) {
    const std::string& id = line.finding.id;
    const int all = of_kind[id];
    if (line.finding.severity == agent::Severity::kOk &&
        all > kMaxFineOfAKind) {
      continue;
    }
    const int index = ++seen[id];
    if (index > kMaxOfAKind) continue;
    kept.push_back(line);
    if (index == kMaxOfAKind && all > kMaxOfAKind) {
      kept.back().finding.what = absl::StrCat("and ", all - kMaxOfAKind + 1,
                                              " more of this kind (--json)");
      kept.back().hosts.clear();
    }
  }
  return kept;
}

std::vector<Line> OfGroup(const std::vector<Line>& lines,
                          agent::FindingGroup group, Detail detail) {
  std::vector<Line> chosen;
  for (const Line& line : lines) {
    if (GroupOf(line.finding) == group &&
        (detail == Detail::kAll ||
         line.finding.severity >= agent::Severity::kWarning)) {
      chosen.push_back(line);
    }
  }
  // Sort the lines by severity: kOk first, then from the worst severity to the
  // mildest. Lines of the same severity and kind stay together; `first` has the
  // index of each kind's first line, which gives the order of the kinds.
  std::map<std::string, size_t> first;
  for (size_t i = 0; i < chosen.size(); ++i) {
    first.emplace(chosen[i].finding.id, i);
  }
  const auto place = [&first](const Line& line) {
    const agent::Severity severity = line.finding.severity;
    const int order =
        severity == agent::Severity::kOk ? -10 : -static_cast<int>(severity);
    return std::make_pair(order, first[line.finding.id]);
  };
  std::stable_sort(
      chosen.begin(), chosen.end(),
      [&place](const Line& a, const Line& b) { return place(a) < place(b); });
  return Bounded(chosen);
}

std::string Page(const std::string& title, const std::vector<Line>& lines,
                 const std::vector<agent::FindingGroup>& order, Detail detail,
                 const TextTarget& target) {
  std::string out =
      absl::StrCat(Inked(title, Ink::kBold, target.style), "\n\n");
  bool any = false;
  for (const agent::FindingGroup group : order) {
    const std::vector<Line> shown = OfGroup(lines, group, detail);
    if (shown.empty()) continue;
    any = true;
    absl::StrAppend(&out, Inked(GroupTitle(group), Ink::kBold, target.style),
                    "\n");
    for (size_t i = 0; i < shown.size(); ++i) {
      const bool last = i + 1 == shown.size() ||
                        shown[i + 1].finding.id != shown[i].finding.id;
      AppendLine(shown[i], last ? Remedy::kTold : Remedy::kLeftOut, target,
                 out);
    }
  }
  absl::StrAppend(&out, any ? "\n" : "", Summary(lines, target), "\n");
  return out;
}

std::vector<agent::FindingGroup> AllGroups() {
  std::vector<agent::FindingGroup> groups;
  for (int i = 0; i < agent::kFindingGroups; ++i) {
    groups.push_back(static_cast<agent::FindingGroup>(i));
  }
  return groups;
}

}  // namespace

std::string DoctorText(const NodeReport& report, Detail detail,
                       const TextTarget& target) {
  std::vector<Line> lines;
  for (const agent::Finding& finding : report.findings)
    lines.push_back({finding, {}});
  return Page(absl::StrCat("launch doctor on ", PrintableLine(report.host)),
              lines, AllGroups(), detail, target);
}

std::string NodesText(const NodesPage& page, Detail detail,
                      const TextTarget& target) {
  const std::vector<std::string> names = NodeNames(page.reports);
  std::vector<Line> lines;
  for (const agent::Finding& finding : page.between)
    lines.push_back({finding, {}});
  for (size_t i = 0; i < names.size(); ++i) {
    for (const agent::Finding& finding : page.reports[i].findings) {
      const auto same =
          std::find_if(lines.begin(), lines.end(), [&](const Line& line) {
            return line.finding.id == finding.id &&
                   line.finding.what == finding.what && !line.hosts.empty();
          });
      if (same == lines.end()) {
        lines.push_back({finding, {names[i]}});
      } else {
        same->hosts.push_back(names[i]);
      }
    }
  }
  for (Line& line : lines) {
    if (line.hosts.size() > 1 && line.hosts.size() == names.size()) {
      line.hosts = {"all"};
    }
  }
  // Findings that concern several nodes are printed first, because the user
  // asked for them with --nodes.
  std::vector<agent::FindingGroup> order = AllGroups();
  std::rotate(order.begin(), order.end() - 1, order.end());
  const int came = static_cast<int>(names.size());
  return Page(absl::StrCat("launch doctor on ",
                           came < page.expected
                               ? absl::StrCat(came, " of ",
                                              Counted(page.expected, "node"))
                               : Counted(came, "node")),
              lines, order, detail, target);
}

int ExitCodeOf(agent::Severity worst) {
  switch (worst) {
    case agent::Severity::kOk:
    case agent::Severity::kNote:
      return 0;
    case agent::Severity::kWarning:
      return 3;
    case agent::Severity::kError:
      return 4;
  }
  return 4;
}

}  // namespace muster::launcher
