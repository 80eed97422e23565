#include "models/trainer/flag_bounds.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::models {
namespace {

// Parses all of `text` as a number.
template <typename Number>
bool Parse(const std::string& text, Number* number) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && at == end;
}

CLI::Validator NumberThat(std::function<bool(double)> fits,
                          const std::string& words) {
  return {[fits = std::move(fits), words](std::string& text) {
            double number = 0;
            return Parse(text, &number) && std::isfinite(number) && fits(number)
                       ? std::string()
                       : absl::StrCat("'", text, "' is no number ", words);
          },
          ""};
}

}  // namespace

CLI::Validator FromZero() {
  return NumberThat([](double number) { return number >= 0; }, "from 0 on");
}

CLI::Validator AboveZero() {
  return NumberThat([](double number) { return number > 0; }, "above 0");
}

CLI::Validator FromZeroToBelowOne() {
  return NumberThat([](double number) { return number >= 0 && number < 1; },
                    "from 0 to below 1");
}

CLI::Validator WholeBetween(int least, int most) {
  return {[least, most](std::string& text) {
            int number = 0;
            return Parse(text, &number) && number >= least && number <= most
                       ? std::string()
                       : absl::StrCat("'", text, "' is no whole number from ",
                                      least, " to ", most);
          },
          ""};
}

CLI::Validator WholeFromZero() {
  return {[](std::string& text) {
            uint64_t number = 0;
            return Parse(text, &number)
                       ? std::string()
                       : absl::StrCat("'", text,
                                      "' is no whole number from 0 to 2^64-1");
          },
          ""};
}

}  // namespace muster::models
