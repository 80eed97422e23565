#include "rendezvous/metrics/exposition.h"

#include <gtest/gtest.h>

#include <limits>

namespace muster::rendezvous {
namespace {

TEST(ExpositionTest, AFamilyHasHelpTypeAndSamples) {
  Exposition page;
  page.Family("muster_nodes", Exposition::Type::kGauge, "Number of nodes.");
  page.Sample({}, 3);
  page.Family("muster_ends_total", Exposition::Type::kCounter, "Early ends.");
  const Label labels[] = {{"job", "a"}, {"cause", "hang"}};
  page.Sample(labels, 0.1);
  EXPECT_EQ(page.text(),
            "# HELP muster_nodes Number of nodes.\n"
            "# TYPE muster_nodes gauge\n"
            "muster_nodes 3\n"
            "# HELP muster_ends_total Early ends.\n"
            "# TYPE muster_ends_total counter\n"
            "muster_ends_total{job=\"a\",cause=\"hang\"} 0.1\n");
}

TEST(ExpositionTest, AHistogramHasCumulativeBucketsSumAndCount) {
  Exposition page;
  page.Family("muster_wait_seconds", Exposition::Type::kHistogram, "Waits.");
  const Label labels[] = {{"job", "a"}};
  const double bounds[] = {0.5, 10};
  const int64_t counts[] = {2, 0, 3};
  page.Histogram(labels, bounds, counts, 91.5);
  EXPECT_EQ(page.text(),
            "# HELP muster_wait_seconds Waits.\n"
            "# TYPE muster_wait_seconds histogram\n"
            "muster_wait_seconds_bucket{job=\"a\",le=\"0.5\"} 2\n"
            "muster_wait_seconds_bucket{job=\"a\",le=\"10\"} 2\n"
            "muster_wait_seconds_bucket{job=\"a\",le=\"+Inf\"} 5\n"
            "muster_wait_seconds_sum{job=\"a\"} 91.5\n"
            "muster_wait_seconds_count{job=\"a\"} 5\n");
}

// Writes a sample with the label value `label`. Returns the sample's line
// without the metric's name.
std::string SampleOf(const std::string& label, double value) {
  Exposition page;
  page.Family("m", Exposition::Type::kGauge, "h");
  const size_t before = page.text().size();
  const Label labels[] = {{"l", label}};
  page.Sample(labels, value);
  return page.text().substr(before + 1);
}

TEST(ExpositionTest, LabelValuesCannotBreakTheFormat) {
  EXPECT_EQ(SampleOf("a\"b\\c", 1), "{l=\"a\\\"b\\\\c\"} 1\n");
  EXPECT_EQ(SampleOf("a\nm 5\t\x1b\x7f", 1), "{l=\"a m 5   \"} 1\n");
  EXPECT_EQ(SampleOf("\xff\xc3\xa4", 1), "{l=\"\xef\xbf\xbd\xc3\xa4\"} 1\n");
}

TEST(ExpositionTest, ValuesAreNumbersOfTheFormat) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(SampleOf("", 1e15 + 1), "{l=\"\"} 1e+15\n");
  EXPECT_EQ(SampleOf("", 123456789012), "{l=\"\"} 123456789012\n");
  EXPECT_EQ(SampleOf("", infinity), "{l=\"\"} +Inf\n");
  EXPECT_EQ(SampleOf("", -infinity), "{l=\"\"} -Inf\n");
  EXPECT_EQ(SampleOf("", std::numeric_limits<double>::quiet_NaN()),
            "{l=\"\"} NaN\n");
}

}  // namespace
}  // namespace muster::rendezvous
