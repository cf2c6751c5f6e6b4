"""What readers of several formats share: blocks of lines, ids of repeated records."""
