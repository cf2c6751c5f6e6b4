"""Makes calls concurrently, with rate limits, retries, a budget and circuit breakers."""
