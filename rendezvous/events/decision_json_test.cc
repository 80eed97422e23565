#include "rendezvous/events/decision_json.h"

#include <gtest/gtest.h>

namespace muster::rendezvous {
namespace {

constexpr double kTime = 1771337471.25;

Decision Break() {
  return {"break", 2, "host-b", "rank 3 was killed by SIGKILL"};
}

TEST(DecisionJsonTest, IsOneObject) {
  EXPECT_EQ(DecisionJson("exp-7", Break(), kTime),
            R"({"time":"2026-02-17T14:11:11.250Z","run_id":"exp-7","round":2,)"
            R"("kind":"break","node":"host-b",)"
            R"("reason":"rank 3 was killed by SIGKILL"})"
            "\n");
  EXPECT_EQ(DecisionJson("a\"b", {"finish", 3, "", "two\nlines \xff"}, kTime),
            R"({"time":"2026-02-17T14:11:11.250Z","run_id":"a\"b","round":3,)"
            R"("kind":"finish","node":null,"reason":"two\nlines \ufffd"})"
            "\n");
  EXPECT_NE(DecisionJson("a", {"join", 1, "\u202E", ""}, kTime)
                .find(R"("node":"\u202e")"),
            std::string::npos);
}

}  // namespace
}  // namespace muster::rendezvous
