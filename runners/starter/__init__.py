"""The folder that `evalstore init` creates."""
