#ifndef MUSTER_BASE_STANDARD_DESCRIPTORS_H_
#define MUSTER_BASE_STANDARD_DESCRIPTORS_H_

namespace muster {

// Opens each of the descriptors 0, 1 and 2 that is closed (`program >&-`) on
// /dev/null. Otherwise the next file or socket takes that number, and whatever
// writes to stdout or replaces it, hits that file.
//
// A program that links this has it done before main, and before constructors of
// libraries that open something. Call it first in main all the same: the call
// is what links it.
void OpenStandardDescriptors();

}  // namespace muster

#endif  // MUSTER_BASE_STANDARD_DESCRIPTORS_H_
