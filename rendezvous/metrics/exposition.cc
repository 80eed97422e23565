#include "rendezvous/metrics/exposition.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"

namespace muster::rendezvous {
namespace {

// Returns the label value in double quotes. JSON escapes backslashes and quotes
// as the text format does.
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

}  // namespace

void Exposition::Family(std::string_view name, Type type,
                        std::string_view help) {
  name_ = std::string(name);
  text_ += "# HELP " + name_ + " ";
  text_ += help;
  text_ += "\n# TYPE " + name_;
  text_ += type == Type::kCounter ? " counter\n" : " gauge\n";
}

void Exposition::Sample(std::span<const Label> labels, double value) {
  text_ += name_;
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
