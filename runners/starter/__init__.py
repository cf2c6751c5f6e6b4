"""What `evalstore init` writes: a suite, a model file, recorded answers, a README."""
