"""What all others need: types, schemas, errors, files, hashing, paths. Imports libraries only."""
