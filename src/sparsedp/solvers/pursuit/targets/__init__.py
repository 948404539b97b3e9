"""What Pursuit needs to know about targets: where to start, what to clip, how far to step."""
