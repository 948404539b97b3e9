"""Each solver by itself: what it computes, and its notes."""
