"""The entrance: cells, locality, and what messages may say."""
