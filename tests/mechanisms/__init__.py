"""The door and the samplers behind it."""
