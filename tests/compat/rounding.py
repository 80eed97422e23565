"""The largest difference between two libraries' results that rounding explains.

Two right programs that add the same numbers in another order, or fuse another
multiplication with its addition, differ by rounding. The bound on their
distance is

  2 * growth(operations) * condition

operations  the roundings in a row in one operation on tensors: for a product
            of matrices its inner dimension, for elementwise arithmetic its
            operations.
growth      the relative error that these roundings grow to. Each is at most
            the unit roundoff u. In the worst case they add up to n u (Higham,
            Accuracy and Stability of Numerical Algorithms, 2002, chapter 3).
            Roundings that do not depend on each other, each about evenly
            between -u and u, have a standard deviation of sqrt(n / 3) u; eight
            of these are left with a probability of 1e-15 (Higham and Mary, A
            New Approach to Probabilistic Rounding Error Analysis, 2019). The
            smaller of the two is the growth.
condition   by how much an output changes for each unit by which the program's
            tensors change relatively, magnitudes included. `condition`
            measures it: the oracle computes in float64 and disturbs each of its
            tensors, inputs and results alike, by a small relative amount of
            random sign (Parker, Monte Carlo Arithmetic, 1997).
2           either library errs by as much.

A defect (a wrong constant, a forgotten term) is no rounding: each test that
uses a bound plants one, and finds it outside.
"""

import math

UNIT_ROUNDOFF = {'float32': 2.0**-24, 'float64': 2.0**-53}
# The largest error allowed for a sum of independent roundings, in standard
# deviations.
_DEVIATIONS = 8


def growth(operations, dtype='float32'):
  """Returns a bound on the relative error after this number of successive
  roundings."""
  return min(operations, _DEVIATIONS * math.sqrt(operations / 3)) * (
      UNIT_ROUNDOFF[dtype])


def condition(exact, disturbed, size):
  """Returns the largest change of the outputs for each unit of a relative
  disturbance.

  `disturbed`: outputs like `exact`, after disturbances of `size`.
  """
  return max(distance(exact, outputs) for outputs in disturbed) / size


def bound(operations, measured_condition, dtype='float32'):
  """Returns the bound on the distance for outputs with this condition."""
  return 2 * growth(operations, dtype) * measured_condition


def distance(a, b):
  """Returns the largest difference between elements of two lists; NaN if an
  element is NaN."""
  differences = [abs(x - y) for x, y in zip(a, b)]
  if any(map(math.isnan, differences)):
    return math.nan
  return max(differences)


def check(test, what, ours, theirs, limit):
  """Fails `test` if the distance is above `limit`. The message contains both.
  """
  test.assertEqual(len(ours), len(theirs), what)
  apart = distance(ours, theirs)
  # The callers derive `limit` from the size of the outputs. A limit of zero
  # means that both outputs are zero by mistake. Their distance is then zero as
  # well, and the comparison below would pass.
  test.assertGreater(limit, 0, what)
  if not apart <= limit:
    test.fail('%s: %.4g apart, and rounding explains %.4g' % (
        what, apart, limit))
  return apart


def check_planted(test, what, wrong, right, limit):
  """Fails `test` if the results with a deliberate defect are within `limit`."""
  apart = distance(wrong, right)
  if apart <= limit:
    test.fail('%s: the planted defect is %.4g off, within the bound of %.4g' % (
        what, apart, limit))
