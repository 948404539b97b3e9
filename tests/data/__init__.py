"""Files that released versions wrote: never changed, only added to."""
