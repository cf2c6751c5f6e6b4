"""Ground truth of posters in the browser: annotators' records, and their adjudication."""
