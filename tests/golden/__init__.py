"""What every solver gave for one seed: shows whether a new structure changes a model."""
