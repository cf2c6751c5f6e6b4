"""Makes many calls at once: limits, retries, budget, circuit breaker."""
