#include <limits>
#include <nlohmann/json.hpp>

#include "gtest/gtest.h"
#include "models/trainer/report/gpt_reporter.h"

namespace muster::models {
namespace {

StepReport Report() {
  return {.step = 100,
          .steps = 2000,
          .loss = 2.45123456789012,
          .learning_rate = 1e-3,
          .gradient_norm = 1.2344,
          .tokens_per_second = 14473.2,
          .mfu = 0.4123,
          .left = std::chrono::seconds(62)};
}

TEST(StepReportTest, SaysAllInOneLine) {
  EXPECT_EQ(ProgressLine(Report()),
            "step  100/2000  loss 2.4512  lr 1.0e-03  norm 1.234     14,473 "
            "tokens/s  MFU 41.2 %  1:02 left");
}

TEST(StepReportTest, WithoutAPeakThereIsNoMfu) {
  StepReport report = Report();
  report.mfu = 0;
  report.left = std::chrono::hours(2) + std::chrono::seconds(5);
  EXPECT_EQ(ProgressLine(report),
            "step  100/2000  loss 2.4512  lr 1.0e-03  norm 1.234     14,473 "
            "tokens/s  2:00:05 left");
  EXPECT_FALSE(nlohmann::json::parse(StepJson(report)).contains("mfu"));
}

TEST(StepReportTest, LargeNumbersHaveCommas) {
  StepReport report = Report();
  report.tokens_per_second = 1234567;
  EXPECT_NE(ProgressLine(report).find("  1,234,567 tokens/s"),
            std::string::npos);
  report.tokens_per_second = 999;
  EXPECT_NE(ProgressLine(report).find("        999 tokens/s"),
            std::string::npos);
}

TEST(StepReportTest, TheLogIsReadBackExactly) {
  const StepReport report = Report();
  const nlohmann::json json = nlohmann::json::parse(StepJson(report));
  EXPECT_EQ(json["step"], 100);
  EXPECT_EQ(json["loss"].get<double>(), report.loss);
  EXPECT_EQ(json["gradient_norm"].get<double>(), report.gradient_norm);
  EXPECT_EQ(json["mfu"].get<double>(), report.mfu);
}

// JSON has no NaN, so NaN is written as null.
TEST(StepReportTest, NoNumberIsNull) {
  StepReport report = Report();
  report.loss = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(nlohmann::json::parse(StepJson(report))["loss"].is_null());
}

TEST(StepReportTest, ValidationHasLinesOfItsOwn) {
  EXPECT_EQ(ValidationLine(250, 2000, 1.87654),
            "step  250/2000  validation loss 1.8765");
  EXPECT_EQ(ValidationJson(250, 1.5), R"({"step":250,"validation_loss":1.5})");
}

TEST(StepReportTest, BeginAndStopAreEvents) {
  EXPECT_EQ(StartJson(40, 4, 1),
            R"({"event":"start","step":40,"world_size":4,"restart":1})");
  EXPECT_EQ(StopJson(60), R"({"event":"stop","step":60})");
}

}  // namespace
}  // namespace muster::models
