"""What people and programs call: the store as `evalstore.open` returns it, and the commands."""
