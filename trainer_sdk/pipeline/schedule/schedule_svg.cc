#include "trainer_sdk/pipeline/schedule/schedule_svg.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "absl/strings/str_cat.h"

namespace muster {
namespace {

// Sizes in the drawing, in pixels.
constexpr double kRowHeight = 30;
constexpr double kBoxHeight = 24;
constexpr double kLeft = 64;
constexpr double kTop = 64;
constexpr double kRight = 16;
constexpr double kLegend = 40;
constexpr double kBoxWidth = 26;
constexpr double kMaxWidth = 4000;
constexpr double kLeastTextWidth = 11;
constexpr int kMaxBoxes = 20'000;

struct Look {
  ActionKind kind;
  const char* name;
  int hue;
  int saturation;
};
constexpr std::array<Look, 4> kLooks = {{
    {ActionKind::kForward, "forward", 215, 70},
    {ActionKind::kBackward, "backward", 145, 45},
    {ActionKind::kInputBackward, "backward, inputs", 175, 50},
    {ActionKind::kWeightBackward, "backward, weights", 38, 80},
}};

const Look& LookOf(ActionKind kind) {
  return kLooks[std::min<size_t>(static_cast<size_t>(kind), 3)];
}

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f", value);
  return text;
}

std::string Escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '&':
        safe += "&amp;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string Text(double x, double y, std::string_view attributes,
                 std::string_view text) {
  std::string out =
      absl::StrCat("<text x=\"", Number(x), "\" y=\"", Number(y), "\"");
  out.append(attributes).append(">").append(Escaped(text)).append("</text>\n");
  return out;
}

// The fill colour of a pass. The hue shows the kind of pass; the rank's later
// chunks (stages) are lighter.
std::string Color(ActionKind kind, int chunk, int chunks) {
  const Look& look = LookOf(kind);
  const int lightness = 42 + (chunks > 1 ? 32 * chunk / (chunks - 1) : 0);
  return absl::StrCat("hsl(", look.hue, ",", look.saturation, "%,", lightness,
                      "%)");
}

std::string Box(const PipelineTimeline& timeline, const TimedAction& timed,
                int rank, double scale) {
  const Action& action = timed.action;
  const int chunk = action.stage / timeline.shape.ranks;
  const int chunks = timeline.shape.stages_per_rank;
  const double x = kLeft + static_cast<double>(timed.begin) * scale;
  const double width = static_cast<double>(timed.end - timed.begin) * scale;
  const double y = kTop + rank * kRowHeight;
  std::string out = absl::StrCat(
      "<rect x=\"", Number(x), "\" y=\"", Number(y), "\" width=\"",
      Number(std::max(width - 1, 0.5)), "\" height=\"", Number(kBoxHeight),
      "\" fill=\"", Color(action.kind, chunk, chunks), "\"><title>",
      ToString(action), ", ", timed.begin, " to ", timed.end,
      "</title></rect>\n");
  if (width >= kLeastTextWidth) {
    out +=
        Text(x + (width - 1) / 2, y + 16,
             chunk * 2 >= chunks && chunk > 0 ? " class=\"in\" fill=\"#222\""
                                              : " class=\"in\" fill=\"#fff\"",
             std::to_string(action.micro_batch));
  }
  return out;
}

std::string Legend(const PipelineTimeline& timeline, double y) {
  std::array<bool, 4> used{};
  for (const TimedAction& timed : timeline.ranks[0]) {
    used[static_cast<size_t>(timed.action.kind)] = true;
  }
  std::string out;
  double x = kLeft;
  const auto entry = [&](const std::string& color, std::string_view name) {
    absl::StrAppend(&out, "<rect x=\"", Number(x), "\" y=\"", Number(y),
                    "\" width=\"14\" height=\"14\" fill=\"", color, "\"/>\n");
    out += Text(x + 20, y + 12, "", name);
    x += 36 + 7 * static_cast<double>(name.size());
  };
  for (const Look& look : kLooks) {
    if (used[static_cast<size_t>(look.kind)]) {
      entry(Color(look.kind, 0, 1), look.name);
    }
  }
  entry("#e4e4e7", "bubble");
  return out;
}

// The scale of the drawing in pixels per unit of time. The shortest pass gets
// the width of a legible box, unless the drawing would become too wide.
double Scale(const PipelineTimeline& timeline) {
  int64_t shortest = std::numeric_limits<int64_t>::max();
  for (const auto& actions : timeline.ranks) {
    for (const TimedAction& timed : actions) {
      if (timed.end > timed.begin) {
        shortest = std::min(shortest, timed.end - timed.begin);
      }
    }
  }
  const double makespan =
      std::max<double>(1, static_cast<double>(timeline.makespan));
  return std::min(kBoxWidth / static_cast<double>(shortest),
                  kMaxWidth / makespan);
}

std::string Summary(const PipelineTimeline& timeline) {
  const PipelineShape& shape = timeline.shape;
  std::string text = absl::StrCat(
      shape.ranks, " ranks, ", shape.stages(), " stages, ", shape.micro_batches,
      " micro-batches: bubble ", Number(100 * timeline.BubbleOverIdeal()),
      " % of the ideal time; a rank holds at most ",
      *std::max_element(timeline.max_held.begin(), timeline.max_held.end()),
      " activations");
  return text;
}

}  // namespace

std::string DrawSchedule(const PipelineTimeline& timeline,
                         std::string_view title) {
  const double scale = Scale(timeline);
  const double rows = static_cast<double>(timeline.shape.ranks);
  const double chart = static_cast<double>(timeline.makespan) * scale;
  const double width = std::max(kLeft + chart + kRight, 720.0);
  const double height = kTop + rows * kRowHeight + kLegend;
  std::string out = absl::StrCat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", Number(width),
      " ", Number(height), "\" width=\"", Number(width), "\" height=\"",
      Number(height), "\">\n",
      "<style>text{font:13px sans-serif;fill:#27272a}"
      ".title{font-size:16px;font-weight:600}"
      ".in{font-size:11px;text-anchor:middle}.in[fill=\"#fff\"]{fill:#fff}"
      ".rank{text-anchor:end}</style>\n",
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
  out += Text(16, 26, " class=\"title\"", title);
  out += Text(16, 48, "", Summary(timeline));
  int boxes = 0;
  size_t all = 0;
  for (int rank = 0; rank < timeline.shape.ranks; ++rank) {
    const double y = kTop + rank * kRowHeight;
    out += Text(kLeft - 8, y + 17, " class=\"rank\"",
                "rank " + std::to_string(rank));
    absl::StrAppend(&out, "<rect x=\"", Number(kLeft), "\" y=\"", Number(y),
                    "\" width=\"", Number(std::max(chart - 1, 0.0)),
                    "\" height=\"", Number(kBoxHeight),
                    "\" fill=\"#e4e4e7\"/>\n");
    all += timeline.ranks[rank].size();
    for (const TimedAction& timed : timeline.ranks[rank]) {
      if (boxes == kMaxBoxes) break;
      ++boxes;
      out += Box(timeline, timed, rank, scale);
    }
  }
  out += Legend(timeline, kTop + rows * kRowHeight + 8);
  if (all > kMaxBoxes) {
    out += Text(kLeft + 420, kTop + rows * kRowHeight + 20, "",
                absl::StrCat("the first ", kMaxBoxes, " of ", all, " passes"));
  }
  out += "</svg>\n";
  return out;
}

}  // namespace muster
