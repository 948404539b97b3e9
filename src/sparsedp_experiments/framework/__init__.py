"""What the experiments share: finding, running and resuming them, data sets, tables, figures."""
