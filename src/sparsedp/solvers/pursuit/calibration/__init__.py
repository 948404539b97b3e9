"""The last step of Pursuit: honest probabilities."""
