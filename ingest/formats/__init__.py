"""The formats that can be imported, one module or folder each."""
