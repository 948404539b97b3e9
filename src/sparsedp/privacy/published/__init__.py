"""Noise as the papers print it: kept to reproduce them, accounted for what it really proves."""
