#include "rendezvous/protocol/signal_names.h"

#include <gtest/gtest.h>

#include <csignal>

namespace muster::rendezvous {
namespace {

TEST(SignalNames, EveryNumberComesBackFromItsName) {
  for (int number = 1; number <= SIGRTMAX; ++number) {
    // Two signal numbers below SIGRTMIN are reserved by the C library and have
    // no name.
    if (number > 31 && number < SIGRTMIN) continue;
    EXPECT_EQ(SignalNumber(SignalName(number)), number) << number;
    EXPECT_EQ(SignalNumber(std::to_string(number)), number);
  }
}

TEST(SignalNames, NamesAsPeopleKnowThem) {
  EXPECT_EQ(SignalName(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(SignalName(SIGABRT), "SIGABRT");
  EXPECT_EQ(SignalName(SIGRTMIN), "SIGRTMIN");
  EXPECT_EQ(SignalName(SIGRTMIN + 2), "SIGRTMIN+2");
  EXPECT_EQ(SignalName(0), "signal 0");
  EXPECT_EQ(SignalName(99), "signal 99");
}

TEST(SignalNames, ReadsEveryFormInAnyCase) {
  for (const char* name : {"SIGTERM", "TERM", "15", "sigterm", "Term"}) {
    EXPECT_EQ(SignalNumber(name), SIGTERM) << name;
  }
  EXPECT_EQ(SignalNumber("SIGIOT"), SIGABRT);
  EXPECT_EQ(SignalNumber("SIGRTMIN+3"), SIGRTMIN + 3);
  EXPECT_EQ(SignalNumber("rtmax-1"), SIGRTMAX - 1);
}

TEST(SignalNames, RefusesWhatIsNoSignal) {
  for (const char* name : {"", "SIG", "SIGSIGTERM", "TERM ", " TERM", "0", "-9",
                           "65", "9x", "99999999999", "SIGRTMIN-1", "SIGRTMIN+",
                           "SIGRTMIN+31", "RTMAX+1", "SIGRTMINX", "NOPE"}) {
    EXPECT_FALSE(SignalNumber(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace muster::rendezvous
