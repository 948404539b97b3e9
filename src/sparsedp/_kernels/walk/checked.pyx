"""The kernel with every invariant asserted at every step: for tests, never in an installed wheel."""

include "kernel.pyx"
