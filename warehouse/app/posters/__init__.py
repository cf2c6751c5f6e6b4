"""Ground truth of posters: records of people, and the adjudication of their differences."""
