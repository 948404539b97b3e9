"""What raw columns hold, one kind per file: which columns it becomes, and how cells are read."""
