#include "trainer_sdk/process_group/queue_time.h"

#include <chrono>

#include "base/seconds_text.h"

namespace muster {

std::string TellQueue(Duration behind, Duration whole) {
  if (behind < std::chrono::milliseconds(1)) return "";
  return "; its time was up " + SecondsText(whole) + " after its call, " +
         SecondsText(behind) + " of them behind earlier operations";
}

}  // namespace muster
