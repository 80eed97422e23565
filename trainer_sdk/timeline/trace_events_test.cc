#include "trainer_sdk/timeline/trace_events.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "gtest/gtest.h"

namespace muster {
namespace {

using Json = nlohmann::json;

std::vector<Json> EventsOf(const Timeline& timeline) {
  std::ostringstream out;
  WriteTraceEvents(timeline, out);
  return Json::parse(out.str())["traceEvents"].get<std::vector<Json>>();
}

// Returns the first event with this phase and name; null if there is none.
Json Find(const std::vector<Json>& events, const std::string& phase,
          const std::string& name) {
  for (const Json& event : events) {
    if (event["ph"] == phase && event["name"] == name) return event;
  }
  return {};
}

TEST(TraceEventsTest, RanksAreProcessesAndCommunicationIsAThread) {
  const std::vector<Json> events = EventsOf(
      {.ranks = {{{.kind = SpanKind::kStep, .begin = 1'000, .end = 9'000}},
                 {{.kind = SpanKind::kReduce,
                   .step = 4,
                   .number = 2,
                   .begin = 3'500,
                   .end = 5'125,
                   .asked = 2'250,
                   .bytes = 1 << 20}}},
       .parts = {}});
  const Json step = Find(events, "X", "step 1");
  EXPECT_EQ(step["pid"], 0);
  EXPECT_EQ(step["ts"], 0.0);
  EXPECT_EQ(step["dur"], 8.0);
  const Json bucket = Find(events, "X", "bucket 2");
  EXPECT_EQ(bucket["pid"], 1);
  EXPECT_NE(bucket["tid"], step["tid"]);
  EXPECT_EQ(bucket["ts"], 2.5);
  EXPECT_EQ(bucket["dur"], 1.625);
  EXPECT_EQ(bucket["args"]["step"], 5);
  EXPECT_EQ(bucket["args"]["bytes"], 1 << 20);
  EXPECT_EQ(bucket["args"]["waited_us"], 1.25);
  // Metadata events give the viewer the names of both ranks and their threads.
  for (const int rank : {0, 1}) {
    int names = 0;
    for (const Json& event : events) {
      if (event["ph"] == "M" && event["pid"] == rank) ++names;
    }
    EXPECT_EQ(names, 4) << rank;
  }
  EXPECT_EQ(Find(events, "M", "process_name")["args"]["name"], "rank 0");
}

// The arrow must start on the computing thread at the time at which the bucket
// was full, and end at the start of the bucket's reduction.
TEST(TraceEventsTest, AnArrowLeadsToEachReduction) {
  const TimelineSpan one{
      .kind = SpanKind::kReduce, .begin = 700, .end = 800, .asked = 100};
  const TimelineSpan base{.kind = SpanKind::kStep, .begin = 0, .end = 900};
  const std::vector<Json> events =
      EventsOf({.ranks = {{base, one}, {base, one}}, .parts = {}});
  std::vector<Json> begins;
  std::vector<Json> ends;
  for (const Json& event : events) {
    if (event["ph"] == "s") begins.push_back(event);
    if (event["ph"] == "f") ends.push_back(event);
  }
  ASSERT_EQ(begins.size(), 2u);
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_NE(begins[0]["id"], begins[1]["id"]);
  for (const size_t i : {0, 1}) {
    EXPECT_EQ(begins[i]["ts"], 0.1);
    EXPECT_EQ(ends[i]["ts"], 0.7);
    EXPECT_EQ(begins[i]["id"], ends[i]["id"]);
    EXPECT_EQ(begins[i]["name"], ends[i]["name"]);
    EXPECT_EQ(begins[i]["cat"], ends[i]["cat"]);
    EXPECT_EQ(ends[i]["bp"], "e");
    EXPECT_NE(begins[i]["tid"], ends[i]["tid"]);
  }
}

TEST(TraceEventsTest, EachKindHasAName) {
  const auto span = [](SpanKind kind, int64_t number) {
    return TimelineSpan{.kind = kind, .number = number};
  };
  const std::vector<Json> events = EventsOf(
      {.ranks = {{span(SpanKind::kStep, 7), span(SpanKind::kForward, 3),
                  span(SpanKind::kBackward, 3), span(SpanKind::kPart, 0),
                  span(SpanKind::kPart, 5), span(SpanKind::kReduce, -1),
                  span(SpanKind::kWait, 0), span(SpanKind::kUpdate, 0)}},
       .parts = {"a \"quoted\"\npart\\"}});
  EXPECT_EQ(Find(events, "X", "step 1")["args"]["left_out"], 7);
  EXPECT_EQ(Find(events, "X", "forward")["args"]["micro_batch"], 3);
  for (const char* name : {"backward", R"(a "quoted" part\)", "part 5",
                           "which were used", "wait for gradients", "update"}) {
    EXPECT_FALSE(Find(events, "X", name).is_null()) << name;
  }
}

// The clock counts from the host's start and may exceed 2^53 ns, above which a
// double is not exact. Written times must be exact nevertheless, because they
// count from the first span.
TEST(TraceEventsTest, AnOldClockLosesNothing) {
  const int64_t old = int64_t{1} << 60;
  const std::vector<Json> events = EventsOf(
      {.ranks = {{{.kind = SpanKind::kUpdate, .begin = old + 1, .end = old + 2},
                  {.kind = SpanKind::kWait, .begin = old, .end = old + 3}}},
       .parts = {}});
  EXPECT_EQ(Find(events, "X", "update")["ts"], 0.001);
  EXPECT_EQ(Find(events, "X", "wait for gradients")["dur"], 0.003);
}

TEST(TraceEventsTest, NothingIsValidToo) { EXPECT_TRUE(EventsOf({}).empty()); }

}  // namespace
}  // namespace muster
