"""What a plan promises."""
