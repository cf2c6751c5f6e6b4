"""The formats that can be imported: a module or a folder each."""
