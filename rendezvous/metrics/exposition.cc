#include "rendezvous/metrics/exposition.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/check.h"

namespace muster::rendezvous {
namespace {

// Returns the label value in double quotes. JSON escapes backslashes and quotes
// in the same way as Prometheus' text format.
std::string Quoted(std::string value) {
  for (char& c : value) {
    if ((c >= 0 && c < ' ') || c == 0x7f) c = ' ';
  }
  using Json = nlohmann::json;
  return Json(std::move(value))
      .dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char text[32];
  // 17 digits would show rounding errors such as 0.10000000000000001.
  std::snprintf(text, sizeof(text), "%.15g", value);
  return text;
}

const char* NameOf(Exposition::Type type) {
  switch (type) {
    case Exposition::Type::kGauge:
      return " gauge\n";
    case Exposition::Type::kCounter:
      return " counter\n";
    case Exposition::Type::kHistogram:
      return " histogram\n";
  }
  return "";
}

}  // namespace

void Exposition::Family(std::string_view name, Type type,
                        std::string_view help) {
  name_ = std::string(name);
  text_ += "# HELP " + name_ + " ";
  text_ += help;
  text_ += "\n# TYPE " + name_;
  text_ += NameOf(type);
}

void Exposition::Sample(std::span<const Label> labels, double value) {
  Line("", labels, value);
}

void Exposition::Histogram(std::span<const Label> labels,
                           std::span<const double> bounds,
                           std::span<const int64_t> counts, double sum) {
  MUSTER_CHECK(counts.size() == bounds.size() + 1);
  std::vector<Label> with_bound(labels.begin(), labels.end());
  with_bound.emplace_back("le", "");
  int64_t count = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    count += counts[i];
    with_bound.back().second = i < bounds.size() ? Number(bounds[i]) : "+Inf";
    Line("_bucket", with_bound, static_cast<double>(count));
  }
  Line("_sum", labels, sum);
  Line("_count", labels, static_cast<double>(count));
}

void Exposition::Line(std::string_view suffix, std::span<const Label> labels,
                      double value) {
  text_ += name_;
  text_ += suffix;
  char before = '{';
  for (const Label& label : labels) {
    text_ += before;
    text_ += label.first;
    text_ += "=" + Quoted(label.second);
    before = ',';
  }
  if (!labels.empty()) text_ += '}';
  text_ += " " + Number(value) + "\n";
}

}  // namespace muster::rendezvous
