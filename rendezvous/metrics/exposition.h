#ifndef MUSTER_RENDEZVOUS_METRICS_EXPOSITION_H_
#define MUSTER_RENDEZVOUS_METRICS_EXPOSITION_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::rendezvous {

// A label of a sample: its name and its value.
using Label = std::pair<std::string_view, std::string>;

// Writes metrics in Prometheus' text format, version 0.0.4. Pure.
//
// Debian's prometheus-cpp is not used for this: the package has shared objects
// only, and the programs are single files that need only the C library.
class Exposition {
 public:
  enum class Type { kGauge, kCounter, kHistogram };

  // Begins a metric family. The following samples belong to it. All samples of
  // a family must be added one after another. `name`: includes the unit, and
  // `_total` for a counter. `help`: one sentence without line breaks.
  void Family(std::string_view name, Type type, std::string_view help);

  // Adds a sample to the newest family. NaN and infinite values are allowed.
  // Label values may contain any bytes: control characters become blanks, and
  // bytes that are no valid UTF-8 become U+FFFD.
  void Sample(std::span<const Label> labels, double value);

  // Adds a histogram to the newest family, whose type must be kHistogram.
  // `bounds`: ascending upper bounds of the buckets, inclusive. `counts`: the
  // number of values in each bucket, not cumulative; the last one counts the
  // values above all bounds. `sum`: the sum of all values.
  void Histogram(std::span<const Label> labels, std::span<const double> bounds,
                 std::span<const int64_t> counts, double sum);

  // The text of all families and samples so far.
  const std::string& text() const { return text_; }

 private:
  void Line(std::string_view suffix, std::span<const Label> labels,
            double value);

  std::string name_;  // name of the newest family
  std::string text_;
};

// The HTTP content type of the text.
inline constexpr char kExpositionType[] =
    "text/plain; version=0.0.4; charset=utf-8";

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_METRICS_EXPOSITION_H_
