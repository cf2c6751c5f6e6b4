"""The command line: its guards and messages, crash reports, shell completion."""
