"""What the data show: decisions between models, charts, data checks."""
